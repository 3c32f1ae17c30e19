package servicetest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ProgramTimeout is far longer than any program of a test takes.
const ProgramTimeout = 60 * time.Second

// Ran is the outcome of a program.
type Ran struct {
	Output string // what it wrote to standard output and standard error
	Code   int
	Took   time.Duration
}

// Program is the path of a program that a test needs. Without it the test
// fails and names the Debian package that has it.
func Program(t testing.TB, name, debianPackage string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s is missing; install it (apt-get install -y %s), or run make test-clients", name, debianPackage)
	}
	return path
}

// Run runs a program until it ends by itself, with env added to the test's own
// environment, and without colours. The test fails when the program does not
// start or does not end.
func Run(t testing.TB, env []string, name string, args ...string) Ran {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), ProgramTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(append(os.Environ(), env...), "NO_COLOR=1")
	began := time.Now()
	output, err := cmd.CombinedOutput()
	took := time.Since(began)
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended || ctx.Err() != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, output)
	}
	code := cmd.ProcessState.ExitCode()
	t.Logf("%s %v: %d in %v\n%.1000s", filepath.Base(name), args, code, took.Round(time.Millisecond), output)
	return Ran{Output: string(output), Code: code, Took: took}
}

// Place is the line of a file of testdata that ends in "HERE name".
func Place(t testing.TB, file, name string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		if strings.HasSuffix(strings.TrimSuffix(line, "\n"), " HERE "+name) {
			return number
		}
	}
	t.Fatalf("%s has no line for %s", file, name)
	return 0
}
