package deploy_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestDockerfiles(t *testing.T) {
	for name, on := range map[string]string{
		"Dockerfile":     "scratch",              // under a static binary there is nothing to keep up to date
		"Dockerfile.all": "debian:bookworm-slim", // the library of ClickHouse needs glibc
	} {
		text := string(read(t, name))
		stages := regexp.MustCompile(`(?m)^FROM (?:--platform=\S+ )?(\S+)`).FindAllStringSubmatch(text, -1)
		if len(stages) < 2 {
			t.Fatalf("%s: the build is not left behind: %d stages", name, len(stages))
		}
		for _, stage := range stages[:len(stages)-1] {
			if !pinned.MatchString(stage[1]) {
				t.Errorf("%s: the image %s is not pinned to a version", name, stage[1])
			}
		}
		if last := stages[len(stages)-1][1]; last != on {
			t.Errorf("%s: the service stands on %s, want %s", name, last, on)
		}
		for _, want := range []string{
			"CGO_ENABLED=0", "-trimpath", `CMD ["/errata", "healthcheck"]`, `ENTRYPOINT ["/errata"]`, "ca-certificates.crt", "\nVOLUME /data\n",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s has no %s", name, want)
			}
		}
		user := regexp.MustCompile(`(?m)^USER (\d+)`).FindStringSubmatch(text)
		if user == nil || user[1] == "0" {
			t.Errorf("%s: the service runs as %v, want a number that is not root's", name, user)
		}
	}
}

// TestBuildContext compares what .dockerignore lets through with what the commands
// import: a package that is missing there breaks every build of an image.
func TestBuildContext(t *testing.T) {
	var sent []string
	for line := range strings.Lines(string(read(t, "../.dockerignore"))) {
		if folder, kept := strings.CutPrefix(strings.TrimSpace(line), "!"); kept && !strings.ContainsAny(folder, "*.") {
			sent = append(sent, folder)
		}
	}
	needed := map[string]bool{}
	var follow func(folder string)
	follow = func(folder string) {
		if needed[folder] {
			return
		}
		needed[folder] = true
		for _, path := range importsOf(t, folder) {
			if inside, ours := strings.CutPrefix(path, "github.com/errata-log/errata/"); ours {
				follow(inside)
			}
		}
	}
	follow("cmd/errata")
	follow("cmd/errata-engine")
	var want []string
	for folder := range needed {
		top, _, _ := strings.Cut(folder, "/")
		want = append(want, top)
	}
	slices.Sort(want)
	if want = slices.Compact(want); !slices.Equal(sent, want) {
		t.Errorf(".dockerignore sends the folders\n%s\nand the commands need\n%s", strings.Join(sent, " "), strings.Join(want, " "))
	}
}

// importsOf are the imports of a folder's files, tests aside.
func importsOf(t *testing.T, folder string) (paths []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no Go files: %v", folder, err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			paths = append(paths, strings.Trim(spec.Path.Value, `"`))
		}
	}
	return paths
}
