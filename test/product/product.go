// Package product builds the programs of the service for tests that start them,
// as the Makefile does, and finds ports for them. The go command keeps what was
// compiled with the same flags, and compiles everything again with other ones, which
// takes minutes.
package product

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// tags are those of the Makefile.
const tags = "nomsgpack"

// Overlay is the environment variable with the path of an overlay file of the go command:
// the programs are built with the lines that it replaces. A test that is itself compiled
// with an overlay would start programs without it otherwise.
const Overlay = "ERRATA_BUILD_OVERLAY"

// Build builds the program in folder cmd/name of the module at root into dir and
// returns its path. It may have more tags, such as "failpoints".
func Build(ctx context.Context, root, name, dir string, more ...string) (path string, err error) {
	path = filepath.Join(dir, name)
	build := exec.CommandContext(ctx, "go", "build", "-overlay="+os.Getenv(Overlay), "-trimpath", "-gcflags=all=-dwarf=false", "-buildvcs=false", "-ldflags=-s -w",
		"-tags", strings.Join(append([]string{tags}, more...), ","), "-o", path, "./cmd/"+name)
	build.Dir = root
	// Flags of the caller, such as -race, would make another program.
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build ./cmd/%s: %w\n%s", name, err, out)
	}
	return path, nil
}
