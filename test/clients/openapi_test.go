//go:build clients

package clients

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/errata-log/errata/test/servicetest"
)

// TestClientOfOpenapiTypescript: the types of openapi-typescript let a program
// pass the strictest check of the compiler, and it works.
func TestClientOfOpenapiTypescript(t *testing.T) {
	packages(t)
	g := newGenerated(t)
	modules, err := filepath.Abs("node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(g.folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	g.put(t, "client.ts")
	tool := func(name string) string { return filepath.Join(modules, ".bin", name) }
	g.make(t, tool("openapi-typescript"), g.document, "-o", "schema.d.ts")
	g.make(t, tool("tsc"), "--noEmit", "--strict", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler", "client.ts")
	g.make(t, tool("esbuild"), "--bundle", "--platform=node", "--format=esm", "--outfile=client.mjs", "--log-level=warning", "client.ts")
	g.works(t, nil, servicetest.Program(t, "node", "nodejs"), filepath.Join(g.folder, "client.mjs"))
}

// The generator for many languages, a Java program in a Python package.
var generatorPackages = []string{"openapi-generator-cli==7.25.0"}

// generate makes a client with openapi-generator in a folder below.
func (g generated) generate(t *testing.T, language, folder string, options ...string) {
	t.Helper()
	servicetest.Program(t, "java", "default-jre-headless")
	generator := filepath.Join(filepath.Dir(pythonWith(t, generatorPackages...)), "openapi-generator-cli")
	g.make(t, generator, append([]string{
		"generate", "-g", language, "-i", g.document, "-o", folder,
		"--global-property", "apiTests=false,modelTests=false,apiDocs=false,modelDocs=false",
	}, options...)...)
}

// What the client that openapi-generator makes for Python needs.
var generatedPythonPackages = []string{"pydantic==2.14.3", "urllib3==2.8.0", "python-dateutil==2.9.0.post0"}

func TestClientOfOpenapiGeneratorPython(t *testing.T) {
	python := pythonWith(t, generatedPythonPackages...)
	g := newGenerated(t)
	g.generate(t, "python", ".", "--package-name", "errata_api")
	g.put(t, "client.py")
	g.works(t, nil, python, filepath.Join(g.folder, "client.py"))
}

// TestClientOfOapiCodegen: the whole document, with the tool and the packages
// that testdata/generated/go.mod names.
func TestClientOfOapiCodegen(t *testing.T) {
	g := newGenerated(t)
	g.put(t, "go.mod", "go.sum", "oapi/main.go")
	if err := os.Mkdir(filepath.Join(g.folder, "errata"), 0o700); err != nil {
		t.Fatal(err)
	}
	g.make(t, "go", "tool", "oapi-codegen", "-package", "errata", "-generate", "types,client", "-o", "errata/client.go", g.document)
	g.goWorks(t)
}

func TestClientOfOpenapiGeneratorGo(t *testing.T) {
	g := newGenerated(t)
	g.put(t, "go.mod", "go.sum", "generator/main.go")
	g.generate(t, "go", "errata", "--package-name", "errata", "--additional-properties", "withGoMod=false")
	g.goWorks(t)
}

// goWorks builds the client and its program, and runs it.
func (g generated) goWorks(t *testing.T) {
	t.Helper()
	g.make(t, "go", "vet", "./...")
	g.make(t, "go", "build", "-o", "client", ".")
	g.works(t, nil, filepath.Join(g.folder, "client"))
}
