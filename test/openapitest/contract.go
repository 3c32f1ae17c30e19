package openapitest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/errata-log/errata/api/openapi"
)

// Contract is the document, ready for comparisons.
type Contract struct {
	// Spec is the document as kin-openapi reads it.
	Spec *openapi3.T

	routes   []route
	compiler *jsonschema.Compiler
	mu       sync.Mutex // guards compiler and schemas
	schemas  map[string]*jsonschema.Schema
}

// Load reads and validates the document, once.
var Load = sync.OnceValues(func() (*Contract, error) {
	document, err := openapi.Document()
	if err != nil {
		return nil, err
	}
	spec, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		return nil, fmt.Errorf("load the OpenAPI document: %w", err)
	}
	if err := spec.Validate(context.Background(), openapi3.EnableExamplesValidation(),
		openapi3.EnableSchemaFormatValidation(), openapi3.EnableMultiError()); err != nil {
		return nil, fmt.Errorf("the OpenAPI document is not valid: %w", err)
	}
	content, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("decode the OpenAPI document: %w", err)
	}
	applyPatterns(content)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource(location, content); err != nil {
		return nil, fmt.Errorf("take the OpenAPI document for a JSON schema: %w", err)
	}
	return &Contract{Spec: spec, routes: routesOf(spec), compiler: compiler, schemas: map[string]*jsonschema.Schema{}}, nil
})

// patternExtension holds the pattern of a text that has a format too. Generated
// clients have a type for the format, to which they cannot apply a pattern.
const patternExtension = "x-errata-pattern"

// applyPatterns makes the extension count below a node of the document.
func applyPatterns(node any) {
	switch node := node.(type) {
	case map[string]any:
		if pattern, known := node[patternExtension]; known {
			node["pattern"] = pattern
		}
		for _, below := range node {
			applyPatterns(below)
		}
	case []any:
		for _, below := range node {
			applyPatterns(below)
		}
	}
}

// location is the document's name in the schema compiler.
const location = "errata:///openapi.json"

// schema compiles the schema at a pointer into the document, "#/…", once. The
// validator of kin-openapi would compile it for each answer.
func (c *Contract) schema(pointer string) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, known := c.schemas[pointer]; known {
		return s, nil
	}
	s, err := c.compiler.Compile(location + pointer)
	if err != nil {
		return nil, fmt.Errorf("compile the schema at %s: %w", pointer, err)
	}
	c.schemas[pointer] = s
	return s, nil
}

// validate compares a JSON text with the schema at a pointer.
func (c *Contract) validate(pointer string, text []byte) error {
	schema, err := c.schema(pointer)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	return schema.Validate(value)
}

// at makes a pointer from its parts.
func at(parts ...string) string {
	var pointer strings.Builder
	pointer.WriteByte('#')
	escape := strings.NewReplacer("~", "~0", "/", "~1", "%", "%25", "{", "%7B", "}", "%7D")
	for _, part := range parts {
		pointer.WriteByte('/')
		pointer.WriteString(escape.Replace(part))
	}
	return pointer.String()
}

// operation is one operation, with its method and path in the document.
type operation struct {
	*openapi3.Operation
	method, path string
	params       map[string]string
}

// route is a path of the document.
type route struct {
	pattern  string
	segments []string
	item     *openapi3.PathItem
}

func routesOf(spec *openapi3.T) (routes []route) {
	for pattern, item := range spec.Paths.Map() {
		routes = append(routes, route{pattern, strings.Split(pattern, "/"), item})
	}
	return routes
}

// find is the operation for a request; nil when the document has none. HEAD
// counts as GET. Paths without parameters come first.
func (c *Contract) find(method, path string) *operation {
	if method == "HEAD" {
		method = "GET"
	}
	var found *operation
	segments := strings.Split(path, "/")
	for _, r := range c.routes {
		if params, fits := match(r.segments, segments); fits && (found == nil || len(params) < len(found.params)) {
			found = &operation{r.item.GetOperation(method), method, r.pattern, params}
		}
	}
	if found == nil || found.Operation == nil {
		return nil
	}
	return found
}

// match compares the segments of a path with those of a pattern.
func match(patterns, segments []string) (params map[string]string, fits bool) {
	if len(patterns) != len(segments) {
		return nil, false
	}
	params = map[string]string{}
	for i, want := range patterns {
		name, opened := strings.CutPrefix(want, "{")
		name, closed := strings.CutSuffix(name, "}")
		switch {
		case opened && closed && segments[i] != "":
			params[name] = segments[i]
		case want != segments[i]:
			return nil, false
		}
	}
	return params, true
}
