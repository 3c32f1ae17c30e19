package api_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/internal/httpstatus"
	"github.com/errata-log/errata/query"
	"github.com/errata-log/errata/test/openapitest"
)

// pending are operations that the document has and the route table does not
// have yet. An entry whose route exists is a failure.
var pending = []string{}

// receiverPaths are those of api.Receivers, which are in no route table.
var receiverPaths = []string{
	"/api/v1/events", "/api/{project}/envelope/", "/api/{project}/store/", "/v1/logs", "/v1/traces", "/v1/metrics",
	"/api/v1/logs/modules", "/api/v1/logs/queries",
	"/api/{project}/integration/otlp/v1/logs", "/api/{project}/integration/otlp/v1/traces",
}

func contractOf(t *testing.T) *openapitest.Contract {
	t.Helper()
	c, err := openapitest.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// operations are those of the document by "METHOD /path".
func operations(t *testing.T) map[string]*openapi3.Operation {
	t.Helper()
	all := map[string]*openapi3.Operation{}
	for path, item := range contractOf(t).Spec.Paths.Map() {
		for method, op := range item.Operations() {
			all[method+" "+path] = op
		}
	}
	return all
}

var parameterOfGin = regexp.MustCompile(`[:*](\w+)`)

// documented is what the document calls a route.
func documented(r api.Route) string {
	return r.Method + " " + parameterOfGin.ReplaceAllString(r.Path, "{$1}")
}

func TestDocumentHasEveryRoute(t *testing.T) {
	ops := operations(t)
	for _, r := range api.Routes() {
		name := documented(r)
		op, found := ops[name]
		delete(ops, name)
		if !found {
			t.Errorf("%s: the document does not have it", name)
			continue
		}
		if slices.Contains(pending, name) {
			t.Errorf("%s: the route exists, take it out of pending", name)
		}
		scope, _ := op.Extensions["x-errata-scope"].(string)
		if scope != string(r.Scope) {
			t.Errorf("%s: the document has scope %q, the route %q", name, scope, r.Scope)
		}
		if got := admissionOf(op); got != r.Admission {
			t.Errorf("%s: the document admits %q, the route %q", name, got, r.Admission)
		}
	}
	for name, op := range ops {
		_, path, _ := strings.Cut(name, " ")
		if !slices.Contains(receiverPaths, path) && !slices.Contains(pending, name) {
			t.Errorf("%s: there is no such route", name)
		}
		scope, _ := op.Extensions["x-errata-scope"].(string)
		if !slices.Contains(access.Scopes, access.Scope(scope)) {
			t.Errorf("%s: there is no scope %q", name, scope)
		}
	}
	for _, path := range receiverPaths {
		if ops["POST "+path] == nil {
			t.Errorf("POST %s: the document does not have it", path)
		}
	}
}

// admissionOf reads the security of an operation: no security is open, optional
// security is for programs on the machine, and security without a scope takes
// any key.
func admissionOf(op *openapi3.Operation) api.Admission {
	switch {
	case op.Security == nil && op.Extensions["x-errata-scope"] == nil:
		return api.AdmitAnyKey
	case op.Security == nil:
		return api.AdmitByScope
	case len(*op.Security) == 0:
		return api.AdmitAll
	case slices.ContainsFunc(*op.Security, func(r openapi3.SecurityRequirement) bool { return len(r) == 0 }):
		return api.AdmitLocal
	default:
		return api.AdmitByScope
	}
}

// TestReceiversStandAsDocumented asks each path of a receiver, with and without
// its last slash: it must exist.
func TestReceiversStandAsDocumented(t *testing.T) {
	b := newBench(t, withReceivers)
	for _, path := range receiverPaths {
		path = strings.ReplaceAll(path, "{project}", "7")
		for _, target := range []string{path, strings.TrimSuffix(path, "/")} {
			if w := b.do(request{method: "POST", target: target}); w.Code != http.StatusAccepted {
				t.Errorf("POST %s: got %d", target, w.Code)
			}
		}
	}
}

func TestCodesOfTheDocument(t *testing.T) {
	common := []errata.Kind{errata.KindUnauthorized, errata.KindInsufficientScope, errata.KindRateLimited, errata.KindInternal}
	for name, op := range operations(t) {
		codes := openapitest.Codes(op)
		if admissionOf(op) != api.AdmitAll && strings.Contains(name, "/api/v1/admin/") {
			for _, code := range common {
				if !slices.Contains(codes, code) {
					t.Errorf("%s: the code %s is missing", name, code)
				}
			}
		}
		statuses := map[string]bool{}
		for _, code := range codes {
			status := httpstatus.Of(code)
			if status == http.StatusInternalServerError && code != errata.KindInternal {
				t.Errorf("%s: there is no code %s", name, code)
			}
			if op.Responses.Value(strconv.Itoa(status)) == nil {
				t.Errorf("%s: the code %s needs the answer %d", name, code, status)
			}
			statuses[strconv.Itoa(status)] = true
		}
		for status := range op.Responses.Map() {
			if status >= "400" && !statuses[status] {
				t.Errorf("%s: no code belongs to the answer %s", name, status)
			}
		}
	}
}

// TestDocumentHasEveryCode reads the kinds out of errors.go: the enumeration
// has all of them and no other.
func TestDocumentHasEveryCode(t *testing.T) {
	kinds := literals(t, "../errors.go", func(n ast.Node) ast.Expr {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Kind") && len(spec.Values) == 1 {
			return spec.Values[0]
		}
		return nil
	})
	var listed []string
	for _, code := range contractOf(t).Spec.Components.Schemas["Code"].Value.Enum {
		listed = append(listed, code.(string))
	}
	slices.Sort(listed)
	if diff := cmp.Diff(kinds, listed); diff != "" {
		t.Errorf("codes (-errors.go +document):\n%s", diff)
	}
}

// literals are the texts that pick finds in a Go file, sorted.
func literals(t *testing.T, name string, pick func(ast.Node) ast.Expr) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		if text, ok := pick(n).(*ast.BasicLit); ok && text.Kind == token.STRING {
			value, err := strconv.Unquote(text.Value)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, value)
		}
		return true
	})
	slices.Sort(found)
	return slices.Compact(found)
}

// TestListParametersAreThoseThatAreRead compares the list's parameters with
// query.Parse: the calls in the parser's file name what it reads.
func TestListParametersAreThoseThatAreRead(t *testing.T) {
	readers := map[string]int{"value": 0, "text": 0, "boolean": 0, "number": 0, "names": 0, "tags": 0, "list": 1, "oneOf": 1}
	read := literals(t, "../query/parse.go", func(n ast.Node) ast.Expr {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return nil
		}
		name := ""
		switch fn := call.Fun.(type) {
		case *ast.SelectorExpr:
			name = fn.Sel.Name
		case *ast.Ident:
			name = fn.Name
		}
		if at, reads := readers[name]; reads && len(call.Args) > at {
			return call.Args[at]
		}
		return nil
	})
	read = append(read, "project") // which the API reads, for all that answer records
	slices.Sort(read)
	parameters := operations(t)["GET /api/v1/admin/tools/logs/errors"].Parameters
	var listed []string
	for _, p := range parameters {
		listed = append(listed, p.Value.Name)
		values := slices.Clone(p.Value.Schema.Value.Enum)
		if p.Value.Example != nil {
			values = append(values, p.Value.Example)
		}
		for _, value := range values {
			if _, _, err := query.Parse(url.Values{p.Value.Name: {value.(string)}}, start); err != nil {
				t.Errorf("%s=%v stands in the document: %v", p.Value.Name, value, err)
			}
		}
	}
	slices.Sort(listed)
	if diff := cmp.Diff(read, listed); diff != "" {
		t.Errorf("parameters (-query.Parse +document):\n%s", diff)
	}
	var orders []any
	for _, order := range query.Orders {
		orders = append(orders, string(order))
	}
	if diff := cmp.Diff(orders, parameters.GetByInAndName("query", "order").Schema.Value.Enum); diff != "" {
		t.Errorf("order (-query.Orders +document):\n%s", diff)
	}
}

// TestRepeatablePosts: each POST of the administration takes an Idempotency-Key
// and names its errors.
func TestRepeatablePosts(t *testing.T) {
	for name, op := range operations(t) {
		post := strings.HasPrefix(name, "POST /api/v1/admin/")
		if takes := op.Parameters.GetByInAndName("header", "Idempotency-Key") != nil; takes != post {
			t.Errorf("%s: takes an idempotency key: %v, want %v", name, takes, post)
		}
		if post && !slices.Contains(openapitest.Codes(op), errata.KindIdempotencyKeyReused) {
			t.Errorf("%s: does not name %s", name, errata.KindIdempotencyKeyReused)
		}
	}
}
