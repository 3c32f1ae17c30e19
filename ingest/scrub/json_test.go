package scrub_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/errata-log/errata/ingest/scrub"
)

func TestJSON(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{`{}`, `{}`},
		{` { "a" : [ 1 , true , null , "x" ] } `, `{"a":[1,true,null,"x"]}`},
		{`{"password":"x","n":1}`, `{"password":"[Filtered]","n":1}`},
		{`{"a":{"b":{"apiKey":{"deep":[1,2]}}}}`, `{"a":{"b":{"apiKey":"[Filtered]"}}}`},
		{`{"token":null,"secret":"","session":false,"otp":123456}`, `{"token":null,"secret":"","session":"[Filtered]","otp":"[Filtered]"}`},
		{`{"note":"password=hunter2 ok"}`, `{"note":"password=[Filtered] ok"}`},
		{`{"n":4111111111111111,"m":4111111111111112}`, `{"n":"[Filtered]","m":4111111111111112}`},
		{`{"AKIAIOSFODNN7EXAMPLE":1}`, `{"[Filtered]":1}`},
		{`{"h":[["Authorization","Basic x"],["Accept","*/*"]]}`, `{"h":[["Authorization","[Filtered]"],["Accept","*/*"]]}`},
		{`{"h":[{"name":"password","value":"x"},{"name":"a","value":"b"}]}`, `{"h":[{"name":"password","value":"[Filtered]"},{"name":"a","value":"b"}]}`},
		{`{"a":"<b>&","e":1e400,"f":1e40,"neg":-0}`, `{"a":"\u003cb\u003e\u0026","e":"1e400","f":1e40,"neg":-0}`}, // 1e400 as a number would break its readers
		{`{"a\u0000b":"\u0000"}`, `{"ab":""}`},
		{`{"password":"x","password":"y"}`, `{"password":"[Filtered]","password":"[Filtered]"}`},
		{`{"PASSWORD":"x","to` + "\u212a" + `en":"y","p\u0061ssword":"z"}`, `{"PASSWORD":"[Filtered]","to` + "\u212a" + `en":"[Filtered]","password":"[Filtered]"}`},
	} {
		got, err := scrub.JSON([]byte(c.raw))
		if err != nil || string(got) != c.want {
			t.Errorf("JSON(%s)\n got %s, %v\nwant %s", c.raw, got, err, c.want)
		}
	}
}

func TestJSONRefuses(t *testing.T) {
	nested := func(n int) string { return `{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}` }
	wide := func(n int) string { return `{"a":[` + strings.TrimSuffix(strings.Repeat("1,", n), ",") + `]}` }
	for _, c := range []struct {
		name, raw string
		want      error
	}{
		{"empty", "", scrub.ErrNotObject},
		{"list", "[]", scrub.ErrNotObject},
		{"string", `"x"`, scrub.ErrNotObject},
		{"garbage behind", `{} x`, scrub.ErrSyntax},
		{"two objects", `{}{}`, scrub.ErrSyntax},
		{"at the depth", nested(scrub.MaxDepth - 1), nil},
		{"too deep", nested(scrub.MaxDepth), scrub.ErrTooDeep},
		{"far too deep", nested(500000), scrub.ErrSyntax},
		{"at the width", wide(scrub.MaxValues - 1), nil},
		{"too wide", wide(scrub.MaxValues), scrub.ErrTooMany},
		{"a bare word", `{"a":x}`, scrub.ErrSyntax},
	} {
		if _, err := scrub.JSON([]byte(c.raw)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	const whole = `{"a":{"b":[1,"x\u00e9",true,null]},"password":{"c":"d"}}`
	for n := range len(whole) {
		if got, err := scrub.JSON([]byte(whole[:n])); err == nil {
			t.Errorf("the first %d bytes give %s", n, got)
		} else if len(err.Error()) > 64 {
			t.Errorf("the error repeats its input: %v", err)
		}
	}
}

func TestJSONCutsLongTexts(t *testing.T) {
	got, err := scrub.JSON([]byte(`{"` + strings.Repeat("k", 300) + `":"` + strings.Repeat("é", 20000) + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]string
	if err := json.Unmarshal(got, &object); err != nil {
		t.Fatal(err)
	}
	for key, value := range object {
		if len(key) > 200 || len(value) > 16<<10 || !strings.HasSuffix(key, "…") || !strings.HasSuffix(value, "…") {
			t.Errorf("key of %d bytes, value of %d", len(key), len(value))
		}
	}
}

// TestNoPlantedSecretSurvivesInJSON plants a value under each key, in six
// spellings, at three depths, and in strings and keys.
func TestNoPlantedSecretSurvivesInJSON(t *testing.T) {
	for _, key := range secretKeys {
		for _, spelled := range spellings(key) {
			k, err := json.Marshal(spelled)
			if err != nil {
				t.Fatal(err)
			}
			for _, place := range []string{`{K:V}`, `{"a":{K:V}}`, `{"a":{"b":[{K:V}]}}`, `{K:[V,{"x":V}]}`, `{K:{"x":V}}`, `{"a":[K,V]}`, `{"a":{"name":K,"value":V}}`} {
				raw := strings.NewReplacer("K", string(k), "V", `"`+planted+`"`).Replace(place)
				got, err := scrub.JSON([]byte(raw))
				if err != nil || strings.Contains(string(got), planted) {
					t.Errorf("JSON(%s) = %s, %v", raw, got, err)
				}
			}
		}
	}
}

func checkJSON(t failer, raw []byte) {
	t.Helper()
	once, err := scrub.JSON(raw)
	if err != nil {
		return
	}
	if !json.Valid(once) {
		t.Fatalf("JSON(%q) = %q, not valid", raw, once)
	}
	twice, err := scrub.JSON(once)
	if err != nil || string(twice) != string(once) {
		t.Fatalf("not idempotent for %q:\n once %q\ntwice %q, %v", raw, once, twice, err)
	}
}

func TestJSONIsIdempotent(t *testing.T) {
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		leaf := rapid.OneOf(textGen().AsAny(), rapid.Int64().AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil))
		if depth == 0 {
			return leaf
		}
		keys := rapid.OneOf(rapid.SampledFrom(secretKeys), rapid.SampledFrom([]string{"name", "value", "a"}), textGen())
		return rapid.OneOf(leaf, rapid.SliceOfN(value(depth-1), 0, 4).AsAny(), rapid.MapOfN(keys, value(depth-1), 0, 4).AsAny())
	}
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(map[string]any{"a": value(3).Draw(t, "value"), "b": value(2).Draw(t, "other")})
		if err != nil {
			t.Fatal(err)
		}
		checkJSON(t, raw)
	})
}

func BenchmarkJSON(b *testing.B) {
	raw := []byte(`{"cart":{"items":[{"sku":"A-1","count":2},{"sku":"B-2","count":1}],"total":"12.50"},"user":{"name":"bob","password":"x"},"note":"the quick brown fox","flags":[true,false,null]}`)
	b.ReportAllocs()
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if _, err := scrub.JSON(raw); err != nil {
			b.Fatal(err)
		}
	}
}

// TestKnownKeysChangeNothing: keys that were seen before do not change the result, for
// secret and ordinary keys, and for pairs of name and value.
func TestKnownKeysChangeNothing(t *testing.T) {
	x, err := scrub.New(scrub.Additions{Keys: []string{"wombat"}})
	if err != nil {
		t.Fatal(err)
	}
	anywhere, words, whole := scrub.DefaultKeys()
	names := slices.Concat(anywhere, words, whole, []string{"user", "wombats", "items", "name", "value", "val", "header", "a b", "passé", "x=password", "\x00key", "eyJhbGciOiJIUzI1NiJ9"})
	keys := scrub.NewKeys()
	for range 4 {
		for _, name := range names {
			for _, other := range []string{"x", "name", "value", "secret_token"} {
				raw, err := json.Marshal(map[string]any{name: "hunter2", other: name, "deep": map[string]any{name: 7}})
				if err != nil {
					t.Fatal(err)
				}
				want, wantErr := x.JSON(raw)
				got, err := x.JSONKnowing(raw, keys)
				if string(got) != string(want) || !errors.Is(err, wantErr) {
					t.Fatalf("%s:\n%s, %v, want\n%s, %v", raw, got, err, want, wantErr)
				}
			}
		}
	}
}
