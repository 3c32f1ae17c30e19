package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/signin/challenge"
)

// bodySchema is the schema of an operation's JSON body, nil for none.
func bodySchema(op *openapi3.Operation) *openapi3.Schema {
	if op.RequestBody == nil || op.RequestBody.Value.Content["application/json"] == nil {
		return nil
	}
	return op.RequestBody.Value.Content["application/json"].Schema.Value
}

// TestNullIsAWrongType sends null for each field of each body of the API, in the
// place of the document's example. It is taken only where the document has null.
func TestNullIsAWrongType(t *testing.T) {
	b := newBench(t, nil)
	key, sent := b.key(t, access.Everything), 0
	for name, op := range operations(t) {
		method, path, _ := strings.Cut(name, " ")
		schema := bodySchema(op)
		if schema == nil || len(schema.Properties) == 0 || !strings.HasPrefix(path, "/api/v1/admin/") && !strings.HasPrefix(path, "/api/v1/sign-in/") {
			continue
		}
		if len(schema.Examples) == 0 {
			t.Errorf("%s: the document has no example of the body", name)
			continue
		}
		example := schema.Examples[0].(map[string]any)
		for field, of := range schema.Properties {
			body := maps.Clone(example)
			body[field] = nil
			text, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			w := b.do(request{method: method, target: strings.ReplaceAll(path, "{id}", codeID), key: key, body: string(text)})
			sent++
			switch takes := of.Value.Type != nil && of.Value.Type.IncludesNull(); {
			case takes && code(t, w) == "invalid_body":
				t.Errorf("%s %s: %d %s, and the document has null", name, text, w.Code, w.Body)
			case !takes && w.Code != http.StatusBadRequest && w.Code != http.StatusUnprocessableEntity:
				t.Errorf("%s %s: %d %s, and the document does not have null", name, text, w.Code, w.Body)
			}
		}
	}
	if sent < 30 {
		t.Errorf("only %d fields were sent", sent)
	}
	for _, c := range []struct{ path, body, field string }{
		{authenticatorsPath, `{"account":"7","label":null}`, "label"},
		{authenticatorsPath, `{"account":null}`, "account"},
		{"/api/v1/admin/keys", `{"name":"x","kind":"ing","project":null}`, "project"},
		{"/api/v1/admin/ops/replay", `{"force":null}`, "force"},
		{"/api/v1/admin/ops/dead/drop", `{"ids":null,"all":true}`, "ids"},
	} {
		w := b.do(request{method: "POST", target: c.path, key: key, body: c.body})
		if w.Code != http.StatusBadRequest || code(t, w) != "invalid_body" || !strings.Contains(w.Body.String(), "The field "+c.field+" holds a JSON null") {
			t.Errorf("POST %s %s: %d %s, want 400 invalid_body naming %s", c.path, c.body, w.Code, w.Body, c.field)
		}
	}
}

// TestNamesAreAsLongAsDocumented sends each account and label in the length that
// the document allows, in characters of four bytes, and one character more.
func TestNamesAreAsLongAsDocumented(t *testing.T) {
	b := newBench(t, nil)
	b.codes.verdict = challenge.Verdict{Outcome: challenge.Wrong}
	key := b.key(t, access.Everything)
	var fields []string
	for name, op := range operations(t) {
		method, path, _ := strings.Cut(name, " ")
		schema := bodySchema(op)
		if schema == nil || !strings.HasPrefix(path, "/api/v1/sign-in/") {
			continue
		}
		for _, field := range []string{"account", "label"} {
			of := schema.Properties[field]
			if of == nil {
				continue
			}
			fields = append(fields, name+" "+field)
			if of.Value.MaxLength == nil {
				t.Errorf("%s: %s has no greatest length in the document", name, field)
				continue
			}
			for more, want := range []string{"", "invalid_account"} {
				body := maps.Clone(schema.Examples[0].(map[string]any))
				body[field] = strings.Repeat("😀", int(*of.Value.MaxLength)+more)
				text, err := json.Marshal(body)
				if err != nil {
					t.Fatal(err)
				}
				w := b.do(request{method: method, target: strings.ReplaceAll(path, "{id}", codeID), key: key, body: string(text)})
				if code(t, w) != want || (want == "") != (w.Code < 300) {
					t.Errorf("%s with %s of %d characters: %d %s, want %q", name, field, int(*of.Value.MaxLength)+more, w.Code, w.Body, want)
				}
			}
		}
	}
	slices.Sort(fields)
	if want := 9; len(fields) != want {
		t.Errorf("%d names in the document, want %d:\n%s", len(fields), want, fmt.Sprint(strings.Join(fields, "\n")))
	}
}
