package lenient_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/errata-log/errata/ingest/lenient"
)

func TestText(t *testing.T) {
	f := func(document, want string) {
		t.Helper()
		d := lenient.Read([]byte(document))
		got, err := d.Text()
		if err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", document, got, err, want)
		}
		if !d.AtEnd() {
			t.Errorf("%s: not read to its end", document)
		}
	}
	f(`"a text"`, "a text")
	f(`"an \"escape\" \u00e9\n"`, "an \"escape\" é\n")
	f(`""`, "")
	f(` 17 `, "17")
	f(`-1.50e3`, "-1.50e3")
	f(`true`, "true")
	f(`null`, "")
	f(`{"a":[1,2,{"b":"]"}]}`, "")
	f(`["a"]`, "")
	f(`"`+strings.Repeat("é", lenient.MaxText)+`"`, strings.Repeat("é", lenient.MaxText/2))
}

func TestBrokenJSONIsTheOnlyError(t *testing.T) {
	for _, document := range []string{``, ` `, `"`, `"a`, `"\x"`, "\"a\nb\"", `tru`, `nul`, `NaN`, `Infinity`, `01`, `1.`, `+1`, `{`, `[1,`, `{"a" 1}`, `]`, `,`, `'a'`} {
		if got, err := lenient.Read([]byte(document)).Text(); err == nil {
			t.Errorf("%q: read as %q", document, got)
		}
	}
}

func TestIntAndBool(t *testing.T) {
	for document, want := range map[string]int64{
		`17`: 17, `"17"`: 17, `17.0`: 17, `"1e3"`: 1000, `-3`: -3, `17.5`: 0, `"x"`: 0, `null`: 0, `[]`: 0, `true`: 0,
		`9223372036854775807`: 9223372036854775807, `9223372036854775808`: 0, `1e400`: 0, `-0`: 0, `""`: 0,
	} {
		if got, err := lenient.Read([]byte(document)).Int(); err != nil || got != want {
			t.Errorf("int %s: %d, %v, want %d", document, got, err, want)
		}
	}
	for document, want := range map[string][2]bool{
		`true`: {true, true}, `false`: {false, true}, `1`: {true, true}, `0`: {false, true}, `"true"`: {true, true},
		`null`: {}, `"maybe"`: {}, `{}`: {}, `2`: {},
	} {
		if value, known, err := lenient.Read([]byte(document)).Bool(); err != nil || value != want[0] || known != want[1] {
			t.Errorf("bool %s: %t, %t, %v, want %v", document, value, known, err, want)
		}
	}
}

func TestCutKeepsRunesWhole(t *testing.T) {
	text := "aé€😀z"
	for max := range len(text) + 2 {
		got := lenient.Cut([]byte(text), max)
		if len(got) > max || !strings.HasPrefix(text, string(got)) || !utf8.Valid(got) {
			t.Errorf("cut at %d: %q", max, got)
		}
	}
	broken := []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80}
	if got := lenient.Cut(broken, 6); len(got) > 6 {
		t.Errorf("%d bytes of text without any rune", len(got))
	}
}

func TestTime(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		got := "none"
		if at, ok := lenient.Time(text); ok {
			got = at.Format(time.RFC3339Nano)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	const noon = "2026-11-21T12:00:00Z"
	f("2026-11-21T12:00:00Z", noon)
	f("2026-11-21T13:00:00+01:00", noon)
	f("2026-11-21T13:00:00+0100", noon)
	f("2026-11-21T12:00:00", noon)
	f("2026-11-21 12:00:00", noon)
	f("2026-11-21 12:00:00Z", noon)
	f(" 2026-11-21T12:00:00Z\n", noon)
	f("2026-11-21T12:00:00.986375992Z", "2026-11-21T12:00:00.986375992Z")
	f("2026-11-21T12:00:00.986375", "2026-11-21T12:00:00.986375Z")
	f("1795262400", noon)
	f("1795262400.0", noon)
	f("1795231193.5072038", "2026-11-21T03:19:53.5072038Z")
	f("1795231193.5072038123", "2026-11-21T03:19:53.507203812Z")
	f("1795262400000", noon)
	f("1795262400000000", noon)
	f("1795262400000000000", noon)
	f("1.7952624e9", noon)
	f("-1.5", "1969-12-31T23:59:58.5Z")
	f("0", "1970-01-01T00:00:00Z")
	f("9223372036854775807", "2262-04-11T23:47:16.854775807Z")
	f("-9223372036854775808", "none")
	f("9223372036854775808", "none")
	f("1e400", "none")
	f("NaN", "none")
	f("-Inf", "none")
	f("", "none")
	f("yesterday", "none")
	f("2026-11-21", "none")
	f("2026-13-21T12:00:00Z", "none")
	f("2026-11-21T12:00:60Z", "none")
	f("1.x", "none")
	f(strings.Repeat("1", 65), "none")
}

// A kept text does not change when later texts are kept or the document changes.
func TestKeeperSharesNothing(t *testing.T) {
	var keeper lenient.Keeper
	var kept, want []string
	document := make([]byte, 2000)
	for i := range 3000 {
		text := document[:i%700]
		for j := range text {
			text[j] = byte('a' + (i+j)%26)
		}
		want = append(want, string(text))
		kept = append(kept, keeper.String(text))
	}
	clear(document)
	for i := range kept {
		if kept[i] != want[i] {
			t.Fatalf("text %d became %q", i, kept[i])
		}
	}
	small := testing.AllocsPerRun(1000, func() { keeper.String(shortText) })
	if small > 0.1 {
		t.Errorf("%v allocations for a short text", small)
	}
}

var shortText = []byte("/srv/app/main.go")

// TestSlabSharesNothing: a list stays as it was when others are copied and when one
// appends to it.
func TestSlabSharesNothing(t *testing.T) {
	for _, size := range []int{0, 1, 64} {
		slab := lenient.Slab[int]{Size: size}
		if slab.Copy(nil) != nil || slab.Copy([]int{}) != nil {
			t.Error("an empty list is not nil")
		}
		var kept [][]int
		list := make([]int, 40)
		for i := range 500 {
			for k := range list {
				list[k] = i + k
			}
			kept = append(kept, slab.Copy(list[:1+i%len(list)]))
			_ = append(kept[i/2], -1)
		}
		for i := range kept {
			for k, n := range kept[i] {
				if n != i+k || len(kept[i]) != 1+i%len(list) {
					t.Fatalf("size %d: list %d became %v", size, i, kept[i])
				}
			}
		}
	}
}

// TestDecodedStringsStay: strings with escapes do not change when others are read, also of
// the next document.
func TestDecodedStringsStay(t *testing.T) {
	var r lenient.Reader
	var kept [][]byte
	for i := range 200 {
		r.Reset([]byte(`"` + strings.Repeat(`\u0041`, i) + `\n"`))
		text, err := r.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, text)
		_ = append(text, 'x')
		r.Reset([]byte(`"a\x"`))
		if text, err := r.Bytes(); err == nil {
			t.Fatalf("read %q", text)
		}
	}
	for i, text := range kept {
		if string(text) != strings.Repeat("A", i)+"\n" {
			t.Errorf("text %d became %q", i, text)
		}
	}
}
