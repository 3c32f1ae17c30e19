package flow

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/errata-log/errata/ingest/scrub"
)

// keysFile is the default list of secret keys in the documentation of the rules.
const keysFile = "../../ingest/scrub/testdata/keys.txt"

// mark begins every planted secret, so that one search finds all of them.
const mark = "plnt7x"

// plants makes secrets and remembers where each was planted.
type plants struct{ where []string }

// secret is a new secret, planted at a place.
func (p *plants) secret(place string) string {
	p.where = append(p.where, place)
	return fmt.Sprintf("%s%06d", mark, len(p.where)-1)
}

// place is where the secret that text begins with was planted.
func (p *plants) place(text string) string {
	var n int
	if _, err := fmt.Sscanf(strings.ToLower(text), mark+"%06d", &n); err != nil || n >= len(p.where) {
		return "an unknown place"
	}
	return p.where[n]
}

// plantedKeys are the default keys in every spelling: those of the list, and
// those that the scrubber reports.
func plantedKeys(t *testing.T) (all []string) {
	t.Helper()
	promised, err := os.ReadFile(keysFile)
	if err != nil {
		t.Fatal(err)
	}
	anywhere, words, whole := scrub.DefaultKeys()
	for _, key := range slices.Concat(strings.Fields(string(promised)), anywhere, words, whole) {
		all = append(all, spellings(key, slices.Contains(whole, strings.ToLower(key)))...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// spellings are the ways to write a key. A key that counts only as a whole is not
// made a part of another.
func spellings(key string, whole bool) []string {
	words := strings.FieldsFunc(strings.ToLower(key), func(r rune) bool { return strings.ContainsRune("-_.", r) })
	titled := slices.Clone(words)
	for i, w := range titled {
		titled[i] = firstLetter(w, strings.ToUpper)
	}
	pascal := strings.Join(titled, "")
	snake, kebab := strings.Join(words, "_"), strings.Join(words, "-")
	all := []string{key, snake, kebab, strings.ToUpper(snake), firstLetter(pascal, strings.ToLower), pascal, strings.Join(titled, "-")}
	if !whole {
		all = append(all, "my_"+snake, "user"+pascal, snake+"_value", "X-"+strings.Join(titled, "-"), "HTTP_"+strings.ToUpper(snake))
	}
	return all
}

// firstLetter changes the first letter of a word in any script.
func firstLetter(word string, to func(string) string) string {
	_, size := utf8.DecodeRuneInString(word)
	return to(word[:size]) + word[size:]
}

// textPlaces are the ways in which a text contains a key K and its value V.
var textPlaces = []string{
	"K=V", "a=1&K=V&b=2", `{"K":"V"}`, `{"a":[{"b":{"K": "V"}}]}`, `{\"K\":\"V\"}`, "K: V", "failed with K: V.", "['K' => 'V']", "[K] => V",
	"<K>V</K>", "cmd --K V", "cmd --K=V", "K = V;", "x[K]=V", "UPDATE t SET `K`='V' WHERE id = 7", "{'K': 'V'}", `K="V and V"`,
	"GET https://shop.example/x?K=V&page=2: 502", "https://bob:V@shop.example/K",
}

// bareKey is the one key that means nothing in a text ("key: 17"). In JSON it
// names the pair beside it: {"key": "password", "value": "x"}.
const bareKey = "key"

func isBare(key string) bool { return strings.EqualFold(strings.Trim(key, "_"), bareKey) }

// texts are a key in all places of a text, a line for each.
func (p *plants) texts(receiver, key string) string {
	lines := []string{"it broke"}
	for _, place := range textPlaces {
		if !isBare(key) {
			value := p.secret(receiver + " text " + place + " with " + key)
			lines = append(lines, strings.NewReplacer("K", key, "V", value).Replace(place))
		}
	}
	return strings.Join(lines, "\n")
}

// tree is a key in all places of an application's JSON object.
func (p *plants) tree(receiver, key string) map[string]any {
	v := func(place string) string { return p.secret(receiver + " " + place + " with " + key) }
	if isBare(key) {
		return map[string]any{"pairs": []any{[]any{key, v("pair")}}}
	}
	return map[string]any{
		key: v("key"), "nested": map[string]any{"list": []any{map[string]any{key: map[string]any{"deep": v("object")}}, 7}},
		"array": map[string]any{key: []any{v("array"), 1}}, "headers": map[string]any{key: v("headers")},
		"pairs":  []any{[]any{key, v("pair")}, map[string]any{"name": key, "value": v("named pair")}},
		"crumbs": []any{map[string]any{"message": p.texts(receiver+" breadcrumb", key), "data": map[string]any{key: v("breadcrumb")}}},
		"vars":   map[string]any{key: v("variable")}, "person": map[string]any{key: v("user")},
	}
}

// native is a native event with a key in every place of it.
func (p *plants) native(key string, n int) string {
	v := func(place string) string { return p.secret("native " + place + " with " + key) }
	return asJSON(map[string]any{
		"id": fmt.Sprintf("n-%d", n), "exception_class": fmt.Sprintf("Native%d", n), "file": "src/app.go", "line": 7,
		"message": p.texts("native", key), "request_uri": "https://bob:" + v("userinfo") + "@shop.example/x?" + key + "=" + v("query") + "&page=2",
		"user_id": p.oneText("native user", key), "fingerprint": []any{fmt.Sprint(n), key + "=" + v("fingerprint")},
		"template": p.oneText("native template", key), "payload": p.tree("native payload", key),
		"release": p.oneText("native release", key), "environment": p.oneText("native environment", key), "tags": map[string]any{key: v("tag")},
		"frames": []any{map[string]any{"file": "src/app.go", "line": 7, "function": "main", "in_app": true, "args": []any{v("argument"), map[string]any{key: v("argument")}},
			"pre": []any{p.sourceLine("native", key)}, "context": p.sourceLine("native", key), "post": []any{p.oneText("native source", key)}, "vars": p.object("native variable", key)}},
		"server_name": p.oneText("native server", key), "transaction": p.oneText("native transaction", key), "contexts": map[string]any{"own": p.object("native context", key)},
		"breadcrumbs": []any{map[string]any{"message": p.oneText("native breadcrumb", key), "category": p.oneText("native category", key), "data": p.object("native breadcrumb", key)}},
	})
}

// sentry is an event of Sentry's SDKs with a key in every place of it.
func (p *plants) sentry(key string, n int) string {
	v := func(place string) string { return p.secret("sentry " + place + " with " + key) }
	pair := func(place string) map[string]any { return map[string]any{key: v(place)} }
	return asJSON(map[string]any{
		"event_id": fmt.Sprintf("%032x", n+1), "platform": "python", "tags": pair("tag"), "extra": p.tree("sentry extra", key), "modules": pair("module"),
		"user": pair("user"), "contexts": map[string]any{"own": p.object("sentry context", key)}, "fingerprint": []any{fmt.Sprint("s", n), key + "=" + v("fingerprint")},
		"breadcrumbs": map[string]any{"values": []any{map[string]any{"message": p.texts("sentry breadcrumb", key), "category": p.oneText("sentry category", key), "data": p.object("sentry breadcrumb", key)}}},
		"logentry":    map[string]any{"message": "login %s", "params": []any{p.texts("sentry param", key)}},
		"transaction": p.oneText("sentry transaction", key), "server_name": p.oneText("sentry server", key),
		"request": map[string]any{
			"url": "https://bob:" + v("userinfo") + "@shop.example/x", "query_string": key + "=" + v("query") + "&page=2",
			"headers": pair("header"), "cookies": pair("cookie"), "data": pair("body"), "env": pair("environment"),
		},
		"exception": map[string]any{"values": []any{map[string]any{
			"type": fmt.Sprintf("Sentry%d", n), "value": p.texts("sentry value", key),
			"stacktrace": map[string]any{"frames": []any{map[string]any{
				"filename": "shop/cart.py", "function": "add", "lineno": 7, "in_app": true, "vars": p.object("sentry variable", key),
				"context_line": p.sourceLine("sentry", key), "pre_context": []any{p.sourceLine("sentry", key)}, "post_context": []any{p.oneText("sentry source", key)},
			}}},
		}}},
	})
}

// object is a key with its value in an object.
func (p *plants) object(place, key string) map[string]any {
	secret := p.secret(place + " with " + key)
	if isBare(key) {
		return map[string]any{"pairs": []any{[]any{key, secret}}}
	}
	return map[string]any{key: secret, "repr": "{'" + key + "': '" + p.secret(place+" as Python writes it with "+key) + "'}"}
}

// sourceLine is a line of source with a key and its value.
func (p *plants) sourceLine(receiver, key string) string {
	if isBare(key) {
		return "none"
	}
	return "\t" + key + " = '" + p.secret(receiver+" source with "+key) + "'"
}

// otlp is a resource with a log record of OTLP/HTTP, with a key in every place of them.
func (p *plants) otlp(key string, n int) string {
	v := func(place string) any {
		return map[string]any{"stringValue": p.secret("otlp " + place + " with " + key)}
	}
	text := func(s string) any { return map[string]any{"stringValue": s} }
	attr := func(k string, value any) any { return map[string]any{"key": k, "value": value} }
	if isBare(key) {
		v = func(string) any { return text("none") }
	}
	return otlpLog([]any{attr(key, v("resource")), attr("process.command_line", text(p.oneText("otlp resource", key)))}, map[string]any{
		"severityNumber": 17, "body": map[string]any{"kvlistValue": map[string]any{"values": []any{attr(key, v("body")), attr("text", text(p.texts("otlp body", key)))}}},
		"attributes": []any{
			attr("exception.type", text(fmt.Sprintf("Otlp%d", n))), attr(key, v("attribute")), attr("http.request.header."+key, v("header")),
			attr("db.statement", text(p.oneText("otlp statement", key))), attr("nested", map[string]any{"kvlistValue": map[string]any{"values": []any{attr(key, v("nested"))}}}),
			attr("exception.stacktrace", text("panic: "+p.oneText("otlp trace", key)+"\n\nmain.add(0x1)\n\t/srv/app/main.go:7 +0x1f\n")),
			attr("url.full", text("https://bob:"+p.secret("otlp userinfo with "+key)+"@shop.example/x?"+key+"="+p.secret("otlp query with "+key))),
		},
	})
}

// otlpLog is one log record of a resource with the attributes.
func otlpLog(resource []any, record map[string]any) string {
	return asJSON(map[string]any{
		"resource": map[string]any{"attributes": resource}, "scopeLogs": []any{map[string]any{"logRecords": []any{record}}},
	})
}

// oneText is a key and its value as a line of text.
func (p *plants) oneText(place, key string) string {
	if isBare(key) {
		return "none"
	}
	return "with " + key + "=" + p.secret(place+" with "+key)
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return string(text)
}
