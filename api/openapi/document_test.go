package openapi

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
)

func folder(files map[string]string) fstest.MapFS {
	tree := fstest.MapFS{}
	for name, text := range files {
		tree["spec/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	return tree
}

func TestDocumentJoinsItsFilesInOrder(t *testing.T) {
	got, err := document(folder(map[string]string{
		"root.yaml": "openapi: 3.1.0\ntags: [b, a]\npaths: {}\ncomponents:\n  schemas:\n    Z: {type: string, enum: ['no', 'off']}\n",
		"a.yaml":    "paths:\n  /z:\n    get:\n      x: 1.5\n      text: |\n        two <b>\n        lines\n",
		"b.yaml":    "paths:\n  /a: {n: null, on: true}\ncomponents:\n  schemas:\n    A: {type: [array, 'null']}\n",
	}), "spec")
	want := `{"openapi":"3.1.0","tags":["b","a"],"paths":{"/z":{"get":{"x":1.5,"text":"two \u003cb\u003e\nlines\n"}},"/a":{"n":null,"on":true}},` +
		`"components":{"schemas":{"Z":{"type":"string","enum":["no","off"]},"A":{"type":["array","null"]}}}}`
	if err != nil || string(got) != want {
		t.Errorf("got  %s %v\nwant %s", got, err, want)
	}
}

func TestDocumentNamesTheFileThatIsWrong(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"root.yaml":  {"a.yaml": "paths: {}"},
		"a.yaml":     {"root.yaml": "paths: {}", "a.yaml": "paths: [\n"},
		"b.yaml":     {"root.yaml": "paths: {/x: {get: 1}}", "b.yaml": "paths: {/x: {get: 2}}"},
		"/x: get":    {"root.yaml": "paths: {/x: {get: 1}}", "b.yaml": "paths: {/x: {get: {}}}"},
		"said twice": {"root.yaml": "paths: {}", "c.yaml": "paths: 7"},
	} {
		if _, err := document(folder(files), "spec"); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, want an error that names it", name, err)
		}
	}
}

func TestQueries(t *testing.T) {
	shared := `"components":{"parameters":{"Type":{"name":"type","in":"query"},"Key":{"name":"Key","in":"header"}}}`
	got, err := queries([]byte(`{"paths":{"/a":{"get":{"parameters":[{"name":"b","in":"query"},{"$ref":"#/components/parameters/Type"},{"name":"a","in":"query"}]},
		"post":{"parameters":[{"$ref":"#/components/parameters/Key"},{"name":"id","in":"path"}]},"delete":{}}},` + shared + `}`))
	want := map[string][]string{"GET /a": {"b", "type", "a"}, "POST /a": {}, "DELETE /a": {}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v %v, want %v", got, err, want)
	}
	for _, broken := range []string{`{`, `{"paths":{"/a":{"get":{"parameters":[{"$ref":"#/components/parameters/None"}]}}}}`, `{"paths":{"/a":{"parameters":[]}}}`} {
		if got, err := queries([]byte(broken)); err == nil {
			t.Errorf("%s: got %v, want an error", broken, got)
		}
	}
}
