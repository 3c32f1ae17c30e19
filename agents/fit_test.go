package agents

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestClean(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain":                {"order 42 failed: “tea” – ünï 中文 🙂", "order 42 failed: “tea” – ünï 中文 🙂"},
		"lines":                {"a\r\nb\rc\td\u2028e", "a\nb\nc\td\ne"},
		"terminal":             {"\x1b[31mred\x1b[0m\x07\x00\x7f\u009b", "[31mred[0m"},
		"direction":            {"user\u202egnp.exe\u2066x\u2069\u200f", "usergnp.exex"},
		"hidden copy of ASCII": {"hi\U000E0069\U000E0067\U000E006E\U000E006F\U000E0072\U000E0065", "hi"},
		"variation selectors":  {"x\ufe0f\U000E0100\U000E01EF", "x"},
		"nothing to see":       {"a\u200b\u2060\ufeff\u00ad\u3164\u2800b", "ab"},
		"private and broken":   {"a\ue000\xffb", "a\ufffdb"},
	} {
		if got := clean(c.in); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestFitBoundsEverything: any answer fits, is JSON, and says that it was cut when it was.
func TestFitBoundsEverything(t *testing.T) {
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		text := rapid.Map(rapid.StringN(0, 3000, 9000), func(s string) any { return s })
		if depth == 0 {
			return text
		}
		below := value(depth - 1)
		return rapid.OneOf(text,
			rapid.Map(rapid.SliceOfN(below, 0, 40), func(l []any) any { return l }),
			rapid.Map(rapid.MapOfN(rapid.StringN(1, 50, 200), below, 0, 40), func(m map[string]any) any { return m }))
	}
	rapid.Check(t, func(t *rapid.T) {
		object := map[string]any{"signature": strings.Repeat("a", 32), "link": "http://h/?record=x", "record": value(3).Draw(t, "value")}
		before, err := encode(object)
		if err != nil {
			t.Fatal(err)
		}
		text := fit(object, "signature", "link")
		var got map[string]any
		if err := json.Unmarshal(text, &got); err != nil || len(text) > MaxAnswer {
			t.Fatalf("%d bytes, %v", len(text), err)
		}
		if got["signature"] != object["signature"] || got["link"] != object["link"] {
			t.Fatalf("without its names: %s", text)
		}
		if (got["cut"] != nil) != (len(text) < len(before) || len(before) > MaxAnswer) && string(text) != string(before) {
			t.Fatalf("cut is %v, of %d bytes %d are left", got["cut"], len(before), len(text))
		}
	})
}

// TestFitKeepsWhatTellsMost: of a deep stack the calls next to the error stay.
func TestFitKeepsWhatTellsMost(t *testing.T) {
	frames := make([]any, 100)
	for i := range frames {
		frames[i] = map[string]any{"file": fmt.Sprintf("src/%d.go", i), "function": strings.Repeat("f", 100), "line": i, "vars": map[string]any{"a": strings.Repeat("v", 500)}, "pre": []any{"x", "y"}}
	}
	object := map[string]any{"signature": "s", "record": map[string]any{"context": map[string]any{
		"exceptions": []any{map[string]any{"class": "Cause"}, map[string]any{"class": "Thrown", "frames": frames}}, "extra": map[string]any{"note": "n"}}}}
	text := string(fit(object, "signature"))
	for _, part := range []string{`"Thrown"`, `"Cause"`, `src/99.go`, `frames: the last`, `of 100`, `left out: `, "extra", "vars"} {
		if !strings.Contains(text, part) {
			t.Errorf("the answer is without %q: %s", part, text)
		}
	}
	if strings.Contains(text, `src/0.go`) || len(text) < MaxAnswer/4 {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}

// TestFitNeverGivesUp: even what no step can make small enough is answered.
func TestFitNeverGivesUp(t *testing.T) {
	deep := any("x")
	for range 200 {
		deep = []any{deep}
	}
	wide := map[string]any{}
	for i := range 1000 {
		wide[strings.Repeat("k", 300)+fmt.Sprint(i)] = map[string]any{"a": strings.Repeat("\"", 1000), "b": []any{deep, deep}}
	}
	for name, object := range map[string]map[string]any{"deep": {"record": deep, "link": "l"}, "wide": {"record": wide, "link": "l"}, "top": wide} {
		text := fit(object, "link")
		if len(text) > MaxAnswer || !json.Valid(text) || !strings.Contains(string(text), `"cut":`) {
			t.Errorf("%s: %d bytes %.200s", name, len(text), text)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("\x1b]0;title\x07 \u202e \U000E0041")
	f.Fuzz(func(t *testing.T, text string) {
		got := clean(text)
		if clean(got) != got || strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf) }) {
			t.Errorf("%q became %q", text, got)
		}
	})
}
