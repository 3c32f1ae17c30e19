//go:build !race

// reason: nothing here runs at the same time, and with the race detector it takes nine
// times as long.

package archtest

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOtherPlatforms checks the types of everything, tests included, as the compiler
// does, for the platforms that this machine is not. Compiling it for them takes minutes,
// because nothing of it is in a cache; a release does that for the programs.
func TestOtherPlatforms(t *testing.T) {
	sources := sources{set: token.NewFileSet(), files: map[string]*ast.File{}}
	for _, platform := range []string{"linux/arm64", "darwin/arm64", "darwin/amd64"} {
		t.Run(platform, func(t *testing.T) {
			system, processor, _ := strings.Cut(platform, "/")
			c := checker{sources: sources, sizes: types.SizesFor("gc", processor), packages: map[string]*types.Package{"unsafe": types.Unsafe}}
			for _, p := range listed(t, system, processor) {
				if errs := c.check(p); len(errs) > 0 {
					t.Errorf("%s:\n%v", p.ImportPath, errors.Join(errs...))
				}
			}
		})
	}
}

// listedPackage is what `go list` says about a package.
type listedPackage struct {
	ImportPath, Dir, Name string
	GoFiles               []string
	ImportMap             map[string]string
	Module                *struct{ Main bool }
}

// listed are all packages that our packages and their tests need, each after those that
// it imports.
func listed(t *testing.T, system, processor string) (found []listedPackage) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-test", "-tags", "nomsgpack", "-json=ImportPath,Dir,Name,GoFiles,ImportMap,Module", "./...")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	ours := 0
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listedPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		// The go command writes the main package of a test when it runs it.
		if p.ImportPath == "unsafe" || p.Name == "main" && strings.HasSuffix(p.ImportPath, ".test") {
			continue
		}
		if p.Module != nil && p.Module.Main {
			ours++
		}
		found = append(found, p)
	}
	if ours < 100 {
		t.Fatalf("%d packages of ours among %d, want all", ours, len(found))
	}
	return found
}

// checker has the packages that were checked already, under the import paths of `go list`.
type checker struct {
	sources  sources
	sizes    types.Sizes
	packages map[string]*types.Package
}

// sources are parsed files by path, of all platforms.
type sources struct {
	set   *token.FileSet
	files map[string]*ast.File
}

// parse leaves out what functions of others do.
func (s sources) parse(path string, ours bool) (*ast.File, error) {
	if file := s.files[path]; file != nil {
		return file, nil
	}
	file, err := parser.ParseFile(s.set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, decl := range file.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && !ours && fn.Body != nil {
			fn.Body.List = nil
		}
	}
	s.files[path] = file
	return file, nil
}

// check checks one package: ours whole, of the others only what they declare.
func (c *checker) check(p listedPackage) (errs []error) {
	ours := p.Module != nil && p.Module.Main
	var parsed []*ast.File
	for _, name := range p.GoFiles {
		file, err := c.sources.parse(filepath.Join(p.Dir, name), ours)
		if err != nil {
			return []error{err}
		}
		parsed = append(parsed, file)
	}
	config := types.Config{
		Sizes: c.sizes, IgnoreFuncBodies: !ours,
		Importer: importer(func(path string) (*types.Package, error) {
			if mapped := p.ImportMap[path]; mapped != "" {
				path = mapped
			}
			if found := c.packages[path]; found != nil {
				return found, nil
			}
			return nil, errors.New("was not listed before it")
		}),
		Error: func(err error) { errs = append(errs, err) },
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	c.packages[p.ImportPath], _ = config.Check(path, c.sources.set, parsed, nil) // Error gets all errors
	return errs
}

type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }
