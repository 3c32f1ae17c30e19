package openapitest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/errata-log/errata/api/openapi"
)

// CheckExamples compares each example of the document with its schema, and says
// how many there are.
func (c *Contract) CheckExamples() (checked int, err error) {
	document, err := openapi.Document()
	if err != nil {
		return 0, err
	}
	content, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return 0, fmt.Errorf("decode the OpenAPI document: %w", err)
	}
	var failed []error
	check := func(example any, of ...string) {
		schema, err := c.schema(at(of...))
		if err == nil {
			err = schema.Validate(example)
		}
		if checked++; err != nil {
			failed = append(failed, fmt.Errorf("an example of %s: %w", at(of...), err))
		}
	}
	walk(content, nil, func(node map[string]any, place []string) {
		if examples, isList := node["examples"].([]any); isList { // of a schema
			for _, example := range examples {
				check(example, place...)
			}
		}
		if example, has := node["example"]; has && node["schema"] != nil { // of a parameter or a content
			check(example, slices.Concat(place, []string{"schema"})...)
		}
	})
	return checked, errors.Join(failed...)
}

// walk visits each object of a document with its place. It does not visit what is
// inside of examples.
func walk(node any, place []string, visit func(node map[string]any, place []string)) {
	switch node := node.(type) {
	case map[string]any:
		visit(node, place)
		for name, member := range node {
			if name != "examples" && name != "example" {
				walk(member, slices.Concat(place, []string{name}), visit)
			}
		}
	case []any:
		for i, element := range node {
			walk(element, slices.Concat(place, []string{fmt.Sprint(i)}), visit)
		}
	}
}

// Fits compares a JSON text with the schema of that name.
func (c *Contract) Fits(schema, text string) error {
	return c.validate(at("components", "schemas", schema), []byte(text))
}
