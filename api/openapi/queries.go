package openapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// Queries are the names of the query parameters of each operation, in the order of
// the document. The keys are like "GET /api/v1/admin/keys". An operation without
// parameters has an empty list.
var Queries = sync.OnceValues(func() (map[string][]string, error) {
	document, err := Document()
	if err != nil {
		return nil, err
	}
	return queries(document)
})

// parameter is a parameter of an operation, or a reference to one.
type parameter struct {
	Ref  string `json:"$ref"`
	Name string `json:"name"`
	In   string `json:"in"`
}

// sharedParameter stands before the name of a parameter in a reference to it.
const sharedParameter = "#/components/parameters/"

func queries(document []byte) (map[string][]string, error) {
	var content struct {
		Paths map[string]map[string]struct {
			Parameters []parameter `json:"parameters"`
		} `json:"paths"`
		Components struct {
			Parameters map[string]parameter `json:"parameters"`
		} `json:"components"`
	}
	if err := json.Unmarshal(document, &content); err != nil {
		return nil, fmt.Errorf("read the parameters of the OpenAPI document: %w", err)
	}
	all := map[string][]string{}
	for path, operations := range content.Paths {
		for method, operation := range operations {
			name := strings.ToUpper(method) + " " + path
			all[name] = []string{}
			for _, p := range operation.Parameters {
				if shared, isShared := strings.CutPrefix(p.Ref, sharedParameter); isShared {
					p = content.Components.Parameters[shared]
				}
				if p.Name == "" {
					return nil, fmt.Errorf("a parameter of %s has no name in the OpenAPI document", name)
				}
				if p.In == "query" {
					all[name] = append(all[name], p.Name)
				}
			}
		}
	}
	return all, nil
}
