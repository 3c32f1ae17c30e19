package exchange_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/errata-log/errata/exchange"
	"github.com/errata-log/errata/ingest/door/doortest"
)

var update = flag.Bool("update", false, "write the golden file")

// The golden file has a query after "-- " and its result in the next line;
// \n stands for a line feed.
func TestQueriesGolden(t *testing.T) {
	path := filepath.Join("testdata", "queries.golden")
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for line := range strings.Lines(string(file)) {
		query, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "-- ")
		if !ok {
			continue
		}
		clean, _ := exchange.WithoutValuesForTest(strings.ReplaceAll(query, `\n`, "\n"))
		if strings.Contains(strings.ToLower(clean), "secret") {
			t.Errorf("%s\nstill has a secret: %s", query, clean)
		}
		fmt.Fprintf(&out, "-- %s\n%s\n", query, strings.ReplaceAll(clean, "\n", `\n`))
	}
	if *update {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out.String() != string(file) {
		t.Errorf("differs from %s; look at it, then run with -update\n%s", path, out.String())
	}
}

// pieces are parts of queries, and of texts that look like queries.
var pieces = []string{
	"SELECT ", "FROM ", "INTO ", "WHERE ", "AND ", "users", "t1", `"users"`, "`id`", "[id]", ".", ",", " ", "\n", "(", ")", "=", "<", "->>", "#>", "#", "--", "-- ",
	"/*", "*/", "'", "''", `\'`, `\`, `"`, `""`, "`", "$", "$$", "$a$", "$1", "q'", "q'[", "]'", "N'", "E'", "x'", "?", ":a", "@p1", "1", "0x1F", "1e-5", ".5", "12:30", "é", "\x00", "\xff",
}

func queries() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(t, "pieces"), "")
	})
}

func TestNormalisingTwiceIsNormalisingOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { stable(t, queries().Draw(t, "query")) })
}

func stable(t interface{ Fatalf(string, ...any) }, query string) {
	once, _ := exchange.WithoutValuesForTest(query)
	if twice, _ := exchange.WithoutValuesForTest(once); twice != once {
		t.Fatalf("%q became %q and then %q", query, once, twice)
	}
}

// literals are ways to write a secret in one of the dialects. The text around it
// is a query of the same dialect, so that the secret is a literal in it.
var secretForms = []string{
	"'%s'", "'it''s %s'", "N'%s'", "E'%s'", "E'\\'%s'", `'a\'%s'`, `'a\\','%s'`, `'C:\','%s'`, `"%s in words"`, `= "%s"`, `"a\"%s"`, "$$%s$$", "$x$ ' %s $x$", "q'[it's %s]'", "q'!%s!'",
	"/* %s */", "-- %s\n", "-- it's\n'%s'", "# it's %s\n", "/* /* */ %s */ 1", "/* ' */ '%s'", "0x%s", "x'%s'", `concat("%s", 'a')`, "--it's\n '%s'", "`a`='%s'", "data #> '{%s}'", "a # '%s'",
}

func TestNoLiteralStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const secret = "5ec7e7ab"
		var query strings.Builder
		query.WriteString("SELECT a FROM users WHERE b = ")
		// One dialect only: no database has a query in several dialects.
		form := rapid.SampledFrom(secretForms).Draw(t, "form")
		for range rapid.IntRange(1, 3).Draw(t, "times") {
			fmt.Fprintf(&query, form, secret)
			query.WriteString(rapid.SampledFrom([]string{" AND c = 5 ", ", ", " OR d IN (1, 'x') ", "\n"}).Draw(t, "between"))
		}
		clean, _ := exchange.QueryForTest(query.String(), "")
		if strings.Contains(clean, secret) {
			t.Fatalf("%q became %q", query.String(), clean)
		}
	})
}

func FuzzQuery(f *testing.F) {
	for _, form := range secretForms {
		f.Add(fmt.Sprintf("SELECT "+form, "x"))
	}
	f.Fuzz(func(t *testing.T, query string) {
		stable(t, query)
		if clean, _ := exchange.QueryForTest(query, query); len(clean) > 16<<10 {
			t.Errorf("%d bytes of %d are left", len(clean), len(query))
		}
	})
}

// The errors of databases repeat values of the query.
func TestErrorsDoNotRepeatLiterals(t *testing.T) {
	for _, test := range []struct{ query, said, want string }{
		{"INSERT INTO u VALUES ('ann@shop', 7)", "Duplicate entry 'ann@shop' for key 'email'", "Duplicate entry '?' for key 'email'"},
		{"SELECT 'it''s mine'", "syntax error near 'it''s mine'", "syntax error near '?'"},
		{"SELECT 'a very long text of somebody' FROM", "near 'a very long te'", "near '?…"},
		{"SELECT 1", "timeout after 30 s", "timeout after 30 s"},
		{`SELECT '\' # $$ $$ -- /* /* q'x'`, "near x", "[not kept: it may repeat values of the query]"},
	} {
		if _, got := exchange.QueryForTest(test.query, test.said); got != test.want {
			t.Errorf("%s: %q, want %q", test.query, got, test.want)
		}
	}
}

// The most expensive query stays within the time for a request.
func TestWorstQueryIsCheap(t *testing.T) {
	for _, piece := range []string{`\'`, `'`, `"`, "$$", "$a", "#", "--", "/*", "q'[", "1e", "from \"a\"   ", "`", ".1", "a.\"b\"."} {
		query := strings.Repeat(piece, (16<<10)/len(piece))
		began := doortest.CPU()
		exchange.QueryForTest(query, "")
		if took := doortest.CPU() - began; took > 250*time.Millisecond {
			t.Errorf("16 KiB of %q took %s", piece, took)
		}
	}
}

func TestTargets(t *testing.T) {
	for target, want := range map[string]string{
		"":                                     "",
		"api.pay.example":                      "api.pay.example",
		"api.pay.example:443":                  "api.pay.example:443",
		"https://api.pay.example/v1/x?token=s": "https://api.pay.example/v1/x?token=[Filtered]",
		"https://u:p@api.pay.example:8/":       "https://api.pay.example:8/",
		"https://api.pay.example?key=s#top":    "https://api.pay.example?key=[Filtered]",
		"postgres://ann:pass/word@db:5432/a":   "postgres://db:5432/a",
		"[2001:db8::1]:443":                    "[2001:db8::1]:443",
		"http://[2001:db8::1]/a":               "http://[2001:db8::1]/a",
		"/v1/charge?card=4111111111111111":     "/v1/charge?card=[Filtered]",
		"data:text/plain,secret":               "[Filtered]",
		"mailto:ann@shop.example":              "shop.example",
		"what is this":                         "[Filtered]",
		"0123456789abcdef0123456789abcdef":     "[Filtered]",
	} {
		if got := exchange.TargetForTest(target); got != want {
			t.Errorf("%q: %q, want %q", target, got, want)
		}
	}
}
