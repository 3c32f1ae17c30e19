package lenient_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-faster/jx"

	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/ingest/lenient"
)

// full has every kind of value.
const full = ` {"a":"text","b":"an \"escape\" \u00e9\ud83d\ude00\n/","":[],"c":{},"d":[1,-2.50e+3,0,-0,1E2,true,false,null,"é",[[]],{"e":{"f":[{}]}}],` +
	`"a key of sixteen":"a text that is longer than eight bytes, and than sixteen","k\u0065y":17 , "tab":"\t" } `

// valid says whether a Reader accepts the whole document.
func valid(document []byte) (bool, error) {
	var r lenient.Reader
	r.Reset(document)
	err := r.Skip()
	return err == nil && r.AtEnd(), err
}

// walk reads all values and returns them as text.
func walk(r *lenient.Reader, said *[]string) error {
	kind := r.Next()
	switch kind {
	case jx.Object:
		*said = append(*said, "{")
		return lenient.Object(r, said, func(said *[]string, key []byte) error {
			*said = append(*said, string(key))
			return walk(r, said)
		})
	case jx.Array:
		*said = append(*said, "[")
		return lenient.Array(r, said, func(said *[]string) error { return walk(r, said) })
	default:
		text, err := r.Bytes()
		*said = append(*said, fmt.Sprintf("%s %q", kind, text))
		return err
	}
}

// walkSlowly is walk with jx, a general decoder.
func walkSlowly(d *jx.Decoder, said *[]string) error {
	kind := d.Next()
	switch kind {
	case jx.Object:
		*said = append(*said, "{")
		return d.ObjBytes(func(d *jx.Decoder, key []byte) error {
			*said = append(*said, string(key))
			return walkSlowly(d, said)
		})
	case jx.Array:
		*said = append(*said, "[")
		return d.Arr(func(d *jx.Decoder) error { return walkSlowly(d, said) })
	case jx.String:
		text, err := d.StrBytes()
		*said = append(*said, fmt.Sprintf("%s %q", kind, lenient.Cut(text, lenient.MaxText)))
		return err
	default:
		raw, err := d.Raw()
		if kind == jx.Null {
			raw = nil
		}
		*said = append(*said, fmt.Sprintf("%s %q", kind, lenient.Cut([]byte(strings.TrimSpace(string(raw))), lenient.MaxText)))
		return err
	}
}

// compare compares a Reader with encoding/json (is it valid?) and with jx (the values).
func compare(t *testing.T, document []byte) {
	t.Helper()
	ok, err := valid(document)
	if want := json.Valid(document); ok != want {
		t.Fatalf("%.200q: valid %t (%v), want %t", document, ok, err, want)
	}
	var broken *lenient.SyntaxError
	if err != nil && (!errors.As(err, &broken) || broken.Offset > len(document)) {
		t.Fatalf("%.200q: %v", document, err)
	}
	var r lenient.Reader
	r.Reset(document)
	var got, want []string
	if err := walk(&r, &got); (err == nil && r.AtEnd()) != ok {
		t.Fatalf("%.200q: read with %v, valid %t", document, err, ok)
	}
	if !ok {
		return
	}
	if err := walkSlowly(jx.DecodeBytes(document), &want); err != nil || !slices.Equal(got, want) {
		t.Fatalf("%.200q:\n got %q\nwant %q, %v", document, got, want, err)
	}
	r.Reset(document)
	if raw, err := r.Raw(); err != nil || !r.AtEnd() || string(raw) != strings.Trim(string(document), " \t\r\n") {
		t.Fatalf("%.200q: raw %.200q, %v", document, raw, err)
	}
}

func TestReaderReadsAsOthersDo(t *testing.T) {
	for n := range len(full) + 1 {
		compare(t, []byte(full[:n]))
		compare(t, []byte(full[n:]))
	}
	for _, c := range doortest.BrokenJSON(strings.TrimSpace(full), "a", "") {
		compare(t, []byte(c.Body))
	}
	for _, c := range doortest.OddJSON() {
		if len(c.Body) < 500_000 {
			compare(t, []byte(c.Body))
		}
	}
	for length := range 40 { // every place in the eight bytes that are read together
		for _, end := range []string{`"`, ``, "\n\"", `\`, `\""`, `\u00e9"`, `\u00g9"`, "\x7f\x80\xff\"", `x" `, `"x`} {
			compare(t, []byte(`"`+strings.Repeat("x", length)+end))
		}
	}
}

func TestReaderNesting(t *testing.T) {
	for _, n := range []int{1, 63, 64, 65, 128, 9_999, 10_000, 10_001, 100_000} {
		for _, pair := range []string{"[]", "{}"} {
			open, inside := pair[:1], ""
			if pair == "{}" {
				open, inside = `{"a":`, "1"
			}
			document := []byte(strings.Repeat(open, n) + inside + strings.Repeat(pair[1:], n))
			if ok, err := valid(document); ok != (n <= 10_000) || ok != json.Valid(document) {
				t.Errorf("%d times %s: valid %t, %v", n, pair, ok, err)
			}
		}
		mixed := strings.Repeat(`[{"a":`, n/2) + "1" + strings.Repeat("}]", n/2)
		if ok, err := valid([]byte(mixed)); ok != json.Valid([]byte(mixed)) {
			t.Errorf("%d levels of both: valid %t, %v", n, ok, err)
		}
	}
}

func TestReaderScalars(t *testing.T) {
	var r lenient.Reader
	for document, want := range map[string]int64{`17`: 17, ` "17"`: 17, `17.0`: 17, `"x"`: 0, `null`: 0, `[1]`: 0} {
		r.Reset([]byte(document))
		if got, err := r.Int(); err != nil || got != want || !r.AtEnd() {
			t.Errorf("%s: %d, %v, want %d", document, got, err, want)
		}
	}
	for document, want := range map[string][2]bool{`true`: {true, true}, `0`: {false, true}, `"maybe"`: {}, `{}`: {}} {
		r.Reset([]byte(document))
		if value, known, err := r.Bool(); err != nil || value != want[0] || known != want[1] {
			t.Errorf("%s: %t, %t, %v, want %v", document, value, known, err, want)
		}
	}
	r.Reset([]byte(`"` + strings.Repeat("é", lenient.MaxText) + `"`))
	if text, err := r.Bytes(); err != nil || len(text) != lenient.MaxText {
		t.Errorf("a long text: %d bytes, %v", len(text), err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte(`[0.1e5,"\ud800","\ud800\u0041",{"a":1,"a":[{}]}]`))
	event, err := os.ReadFile("../sentry/testdata/python-django-16k.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(event[:2000])
	f.Fuzz(compare)
}
