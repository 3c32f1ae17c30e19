package archtest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// planted parses a tree of the given texts, with a go.mod added.
func planted(t *testing.T, texts map[string]string) *Tree {
	t.Helper()
	all := map[string][]byte{"go.mod": []byte("module example.org/m\n\ngo 1.26\n")}
	for name, text := range texts {
		all[name] = []byte(text)
	}
	tree, err := Parse(all)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// expect compares findings with regular expressions, one for each finding, in
// order.
func expect(t *testing.T, found []string, want ...string) {
	t.Helper()
	if len(found) != len(want) {
		t.Fatalf("found %d, want %d:\n%s", len(found), len(want), strings.Join(found, "\n"))
	}
	for i := range want {
		if !regexp.MustCompile(want[i]).MatchString(found[i]) {
			t.Errorf("finding %d is\n\t%s\nwant\n\t%s", i, found[i], want[i])
		}
	}
}

func TestImports(t *testing.T) {
	layers := []Layer{{Dir: "."}, {Dir: "in/...", May: []string{".", "in/..."}}, {Dir: "out", May: []string{"."}}, {Dir: "test/...", May: []string{"..."}}}
	guards := []Guard{{"example.org/driver", []string{"out"}, "only out writes"}}
	for _, c := range []struct {
		name, path, source string
		want               []string
	}{
		{"the table lets it", "in/a/a.go", `package a; import (_ "example.org/m"; _ "example.org/m/in/b"; _ "fmt")`, nil},
		{"upwards", "m.go", `package m; import _ "example.org/m/in"`, []string{`^m.go:1: \. imports in, and the import table`}},
		{"sideways", "out/a.go", `package out; import _ "example.org/m/in/b"`, []string{`^out/a.go:1: out imports in/b,`}},
		{"a name that only begins alike", "out/a.go", `package out; import _ "example.org/mm/in"`, nil},
		{"sideways in a test", "out/a_test.go", `package out; import _ "example.org/m/in"`, nil},
		{"the driver at home", "out/a.go", `package out; import _ "example.org/driver/lib"`, nil},
		{"the driver elsewhere", "in/a.go", `package in; import _ "example.org/driver/lib"`, []string{`^in/a.go:1: in imports example.org/driver/lib: only out writes$`}},
		{"the driver in a test", "in/a_test.go", `package in; import _ "example.org/driver"`, nil},
		{"the driver in a whole-system test", "test/flow/flow.go", `package flow; import _ "example.org/driver"`, nil},
		{"another driver", "in/a.go", `package in; import _ "example.org/driver2"`, nil},
		{"a folder nobody has placed", "util/a.go", `package util`, []string{`^util: the folder is not in the import table`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := planted(t, map[string]string{c.path: c.source})
			expect(t, Imports(tree, layers, guards), c.want...)
		})
	}
}

// TestImportTable checks that no row of the table allows an import that the
// architecture forbids.
func TestImportTable(t *testing.T) {
	for _, c := range []struct{ dir, mayNot string }{
		{".", "eventlog"}, {".", "signature"}, {"signature", "ingest"}, {"ingest", "projector"}, {"ingest/sentry", "projector"}, {"projector", "ingest"},
		{"api", "engine"}, {"api", "app"}, {"query", "eventlog"}, {"web", "."}, {"client", "."},
		{"engine", "eventlog"}, {"migrations", "eventlog"}, {"cmd/errata", "engine"}, {"cmd/errata-engine", "."}, {"app", "test/testenv"},
	} {
		layer, ok := layerOf(c.dir, Layers)
		if !ok {
			t.Errorf("%s is not in the table", c.dir)
		}
		if anyMatch(layer.May, c.mayNot) {
			t.Errorf("%s may import %s", c.dir, c.mayNot)
		}
	}
	for _, c := range []struct {
		imported string
		dirs     []string
	}{
		{"github.com/gin-gonic/gin", []string{"app", "ingest", "ingest/sentry", "query", "cmd/errata"}},
		{"github.com/nats-io/nats.go/jetstream", []string{"api", "ingest", "projector", "query", "cmd/errata"}},
		{"github.com/ClickHouse/clickhouse-go/v2", []string{"api", "ingest", "eventlog", "settings", "cmd/errata"}},
		{"github.com/nats-io/nats-server/v2/server", []string{"app", "eventlog", "api"}},
		{"github.com/ebitengine/purego", []string{"app", "engine", "cmd/errata"}},
		{"net/http", []string{".", "eventlog", "projector", "query", "settings", "signin"}},
	} {
		for _, dir := range c.dirs {
			if !slices.ContainsFunc(Guards, func(g Guard) bool { return within(c.imported, g.Import) && !anyMatch(g.In, dir) }) {
				t.Errorf("nothing keeps %s out of %s", c.imported, dir)
			}
		}
	}
}

func TestComments(t *testing.T) {
	for _, c := range []struct {
		name  string
		texts map[string]string
		want  []string
	}{
		{"one file has it", map[string]string{"p/a.go": "package p", "p/doc.go": "// Package p is for it.\npackage p"}, nil},
		{"none", map[string]string{"p/a.go": "package p"}, []string{`^p: no package comment that begins with "Package p "`}},
		{"a licence is none", map[string]string{"p/a.go": "// Copyright\n\npackage p"}, []string{`^p: no package comment`}},
		{"of another name", map[string]string{"p/a.go": "// Package q is for it.\npackage p"}, []string{`^p: no package comment`}},
		{"only a test has it", map[string]string{"p/a.go": "package p", "p/a_test.go": "// Package p is for it.\npackage p"}, []string{`^p: no package comment`}},
		{"there are only tests", map[string]string{"test/p/p_test.go": "// Package p_test is for it.\npackage p_test"}, nil},
		{"a program", map[string]string{"cmd/p/main.go": "// Command p does it.\npackage main"}, nil},
		{"a silent program", map[string]string{"cmd/p/main.go": "package main"}, []string{`^cmd/p: .*"Command "`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, Comments(planted(t, c.texts)), c.want...)
		})
	}
}

func TestLengths(t *testing.T) {
	file := func(top string, lines int) string {
		return top + "package p\n" + strings.Repeat("var _ = 1\n", lines-1-strings.Count(top, "\n"))
	}
	function := func(doc, first string, lines int) string {
		return "package p\n" + doc + "func f() {\n" + first + strings.Repeat("_ = 1\n", lines-2-strings.Count(first, "\n")) + "}\n"
	}
	const why = "// long: one table, read as a whole.\n"
	for _, c := range []struct {
		name, source string
		want         []string
	}{
		{"a file of 400 lines", file("", 400), nil},
		{"a file of 401 lines", file("", 401), []string{`^p/p.go: 401 lines, more than 400`}},
		{"a file that says why", file(why, 401), nil},
		{"a file that says why too late", file("", 401) + why, []string{`^p/p.go: 402 lines`}},
		{"a file that gives no reason", file("// long: \n", 401), []string{`^p/p.go: 401 lines`}},
		{"a generated file", file("// Code generated by x. DO NOT EDIT.\n", 401), nil},
		{"a function of 60 lines", function("", "", 60), nil},
		{"a function of 61 lines", function("", "", 61), []string{`^p/p.go:2: f has 61 lines, more than 60`}},
		{"a function that says why in its comment", function("// f does it.\n"+why, "", 61), nil},
		{"a function that says why in its first line", function("", why, 61), nil},
		{"a function whose file says why", why + function("", "", 61), []string{`^p/p.go:3: f has 61 lines`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, Lengths(planted(t, map[string]string{"p/p.go": c.source})), c.want...)
		})
	}
}

func TestRootNames(t *testing.T) {
	const words = "package m\ntype Level int\nconst (\nA Level = iota\nB\nC\n)\nconst D Level = 7\nfunc (Level) String() string { return \"\" }\nvar v, w int\n"
	functions := func(count int) (text string) {
		for i := range count {
			text += fmt.Sprintf("func F%d() {}\n", i)
		}
		return text
	}
	for _, c := range []struct {
		name, path, source string
		want               []string
	}{
		{"an enumeration is one name", "m.go", words + functions(58), nil},
		{"one function more", "m.go", words + functions(59), []string{`^\.: the root exports 61 names, more than 60`}},
		{"constants of no type count each", "m.go", words + functions(57) + "const X, Y = 1, 2\n", []string{`61 names`}},
		{"so do variables", "m.go", words + functions(57) + "var X, Y Level\n", []string{`61 names`}},
		{"and types", "m.go", words + functions(57) + "type (\nX int\nY int\n)\n", []string{`61 names`}},
		{"names of a test", "m_test.go", words + functions(99), nil},
		{"another package", "p/p.go", words + functions(99), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, RootNames(planted(t, map[string]string{c.path: c.source})), c.want...)
		})
	}
}

func TestWaits(t *testing.T) {
	body := func(statements string) string {
		return "package p\nimport (\"testing\"; \"time\")\nfunc TestX(t *testing.T) {\n" + statements + "\n}\n"
	}
	for _, c := range []struct {
		name, source string
		want         []string
	}{
		{"a skip", body(`t.Skip("no engine")`), []string{`^p/p_test.go:4: t.Skip without`}},
		{"a skip in a benchmark's loop", "package p\nimport \"testing\"\nfunc f(tb testing.TB) {\nfor { tb.SkipNow() }\n}", []string{`^p/p_test.go:4: tb.SkipNow`}},
		{"a skip with its reason above", body("// reason: the kernel is another.\nt.Skipf(\"on %s\", x)"), nil},
		{"a skip with its reason behind", body(`t.Skip("x") // reason: the kernel is another.`), nil},
		{"a skip with an empty reason", body("// reason: \nt.Skip()"), []string{`t.Skip`}},
		{"a skip with a reason far above", body("// reason: the kernel is another.\n\nt.Skip()"), []string{`t.Skip`}},
		{"a decoder that skips a value", body(`d.Skip()`), nil},
		{"a property test that throws a draw away", body(`rapid.Check(t, func(t *rapid.T) { t.Skip() })`), nil},
		{"a skip behind a property test", body("rapid.Check(t, func(t *rapid.T) {})\nt.Skip()"), []string{`^p/p_test.go:5: t.Skip`}},
		{"a skip in a table's case", body(`t.Run("x", func(t *testing.T) { func() { t.Skip() }() })`), []string{`t.Skip`}},
		{"a sleep", body(`time.Sleep(1)`), []string{`^p/p_test.go:4: time.Sleep without`}},
		{"a sleep with its reason", body("time.Sleep(1) // reason: the server gives no sign."), nil},
		{"a sleep that is only named", body("x = time.Sleep"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, Waits(planted(t, map[string]string{"p/p_test.go": c.source})), c.want...)
		})
	}
}

func TestPlaces(t *testing.T) {
	const home = "ro" + "ot/" // of the super-user, behind a slash
	places := NewPlaces([]string{"https://mirror.example.org/go,direct", "off"}, []string{"/srv/checkouts", "/"})
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"clean", "a\nhttps:" + "//example.org/" + home + "x and ${DATA}/" + home + " and ./" + "tmp/x\n", nil},
		{"a registry", "a\nnpm --registry https://registry" + ".npmjs.org/\n", []string{`^x.txt:2: names the registry host`}},
		{"a registry of images", "image: ghcr" + ".io/x/y:1", []string{`^x.txt:1: names the registry host`}},
		{"this machine's mirror", "see mirror.example.org", []string{`^x.txt:1: .* host mirror.example.org`}},
		{"the super-user's home", `cd "/` + `root/src"`, []string{`^x.txt:1: names a path of one machine: /` + `root/$`}},
		{"scratch space", "/" + "tmp/out", []string{`machine: /` + `tmp/o$`}},
		{"the scratch folder itself", "tmpfs: /" + "tmp", nil},
		{"the checkout", "see /srv/checkouts/errata", []string{`/srv/checkouts/$`}},
		{"beside the checkout", "see /srv/checkout", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, places.Find(planted(t, map[string]string{"x.txt": c.text})), c.want...)
		})
	}
}

func TestLinks(t *testing.T) {
	texts := map[string]string{"docs/b.md": "# Two words, 1st\n", "pkg/p.go": "package p"}
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"a file", "[b](docs/b.md)", nil},
		{"a folder", "[p](pkg) and [p](pkg/)", nil},
		{"a heading", "[b](docs/b.md#two-words-1st)", nil},
		{"another site", "[x](https://example.org/nowhere.md)", nil},
		{"nowhere", "[c](docs/c.md)", []string{`^README.md: the link docs/c.md leads nowhere`}},
		{"a lost heading", "[b](docs/b.md#two)", []string{`leads to a heading that is not there`}},
		{"a heading of its own", "# Here\n[x](#here) [y](#there)", []string{`#there leads to a heading`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := map[string]string{"README.md": c.text}
			maps.Copy(all, texts)
			expect(t, Links(planted(t, all)), c.want...)
		})
	}
}

func TestDocuments(t *testing.T) {
	const settings = `package main
func settings() { _ = []any{textSetting("log-max", 1), setting{name: "data", usage: "x"}} }`
	const readme = "`ERRATA_LOG_MAX` `ERRATA_DATA`"
	for _, c := range []struct {
		name  string
		texts map[string]string
		want  []string
	}{
		{"all is said", map[string]string{"README.md": readme}, nil},
		{"a setting is not listed", map[string]string{"README.md": "`ERRATA_DATA`"}, []string{`^README.md: does not list the setting ERRATA_LOG_MAX$`}},
		{"a lost variable", map[string]string{"README.md": readme, "docs/a.md": "set ERRATA_GONE"}, []string{`^docs/a.md: names ERRATA_GONE,`}},
		{"a variable of a script", map[string]string{"README.md": readme + " ERRATA_CACHE", "x.sh": `"$ERRATA_CACHE"`}, nil},
		{"a lost metric", map[string]string{"README.md": readme + " errata_x_total"}, []string{`^README.md: names errata_x_total,`}},
		{"a metric", map[string]string{"README.md": readme + " errata_x_total", "a.go": `package a; const x = "errata_x_total"`}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.texts["cmd/errata/settings.go"] = settings
			expect(t, Documents(planted(t, c.texts)), c.want...)
		})
	}
	expect(t, Documents(planted(t, map[string]string{"README.md": readme})), `no function settings`)
}

func TestParseNeedsAModule(t *testing.T) {
	for name, texts := range map[string]map[string][]byte{
		"no go.mod": {"a.go": []byte("package a")},
		"broken Go": {"go.mod": []byte("module m\n"), "a.go": []byte("package")},
	} {
		if _, err := Parse(texts); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestLoadLeavesOutWhatIsNotOurs(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{
		"go.mod", "a.go", "x/data/b.go", "data/c.go", "bin/d.go", "hello/main.go", "node_modules/e.go",
		"x/node_modules/f.go", "run.log", ".env", ".ci/run", "x/picture",
	} {
		text := "package p"
		switch name {
		case "go.mod":
			text = "module m\n"
		case "x/picture":
			text = "\x00"
		}
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := tree.paths(), []string{".ci/run", "a.go", "go.mod", "x/data/b.go"}; !slices.Equal(got, want) {
		t.Errorf("loaded %q, want %q", got, want)
	}
}
