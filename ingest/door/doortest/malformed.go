package doortest

import (
	"fmt"
	"strings"
)

// Case is a body with a name.
type Case struct {
	Name string
	Body string
}

// tokens are values that are not JSON.
var tokens = []string{
	`NaN`, `-NaN`, `Infinity`, `-Infinity`, `nan`, `inf`, `undefined`, `None`, `True`, `nul`, `tru`, `fals`, `01`, `-01`, `+1`, `1.`, `.5`, `-`,
	`1e`, `1e+`, `1.e5`, `0x10`, `1_000`, `'text'`, `text`, "`text`", `"open`, `"\x41"`, `"\u12"`, `"\u12G4"`, `"\"`, "\"line\nbreak\"", "\"tab\tin\"",
	"\"nul\x00\"", `{`, `[`, `{]`, `[}`, `[1,]`, `[,1]`, `[1 2]`, `{"a":1,}`, `{"a"}`, `{"a":}`, `{:1}`, `{a:1}`, `{1:2}`, `{"a":1 "b":2}`, `{"a"::1}`,
	`"a" "b"`, `/* c */ 1`, `// c`, "\xff\xfe", "\xef\xbb\xbf1", "\x00", `"a"b`, `1,`, `]`, `}`, `:`, `,`, ``,
}

// BrokenJSON gives bodies that are not JSON: valid cut at every byte, each of the
// fields with each kind of broken value, and bombs of brackets. valid must be a JSON
// object without blanks around it.
func BrokenJSON(valid string, fields ...string) []Case {
	var all []Case
	for n := 1; n < len(valid); n++ {
		all = append(all, Case{fmt.Sprintf("cut at %d", n), valid[:n]})
	}
	for _, field := range fields {
		for _, token := range tokens {
			all = append(all, Case{fmt.Sprintf("%s is %q", field, token), fmt.Sprintf(`{"message":"m",%q:%s}`, field, token)})
		}
	}
	for _, junk := range []string{"x", "{}", ",", "]", "}", "\x00", `"`, "null"} {
		all = append(all, Case{fmt.Sprintf("%q behind it", junk), valid + junk})
	}
	for _, depth := range []int{100, 10_001, 400_000} {
		for name, open := range map[string]string{"lists": "[", "objects": `{"a":`, "both": `[{"a":`} {
			bomb := strings.Repeat(open, depth/len(open))
			all = append(all, Case{fmt.Sprintf("%d bytes of open %s", depth, name), `{"message":"m","payload":` + bomb})
		}
	}
	all = append(all,
		Case{"a megabyte of quotes", `{"message":"m","payload":` + strings.Repeat(`"`, 1<<19)},
		Case{"a megabyte of backslashes", `{"message":"` + strings.Repeat(`\`, 1<<19)},
		Case{"a megabyte of commas", `{"message":"m","payload":[` + strings.Repeat(`,`, 1<<19) + `]}`},
		Case{"a megabyte of minus signs", `{"line":` + strings.Repeat(`-`, 1<<19) + `}`},
		Case{"a megabyte of digits and a letter", `{"line":` + strings.Repeat(`1`, 1<<19) + `x}`},
	)
	return all
}

// OddJSON gives bodies that are valid JSON and that no client sends: deep, wide, and
// with the same key many times.
func OddJSON() []Case {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	var wide strings.Builder
	for i := range 20_001 {
		fmt.Fprintf(&wide, `%q:0,`, fmt.Sprint("k", i))
	}
	return []Case{
		{"65 levels", `{"message":"m","payload":{"a":` + deep(64) + `}}`},
		{"9,000 levels", `{"message":"m","payload":{"a":` + deep(9000) + `}}`},
		{"20,001 keys", `{"message":"m","payload":{` + wide.String() + `"z":0}}`},
		{"20,001 keys at the top", `{` + wide.String() + `"message":"m"}`},
		{"a megabyte of objects", `{"message":"m","payload":{"a":[` + strings.Repeat(`{},`, 300_000) + `0]}}`},
		{"the same key 100,000 times", `{` + strings.Repeat(`"file":"f",`, 90_000) + `"message":"m"}`},
	}
}
