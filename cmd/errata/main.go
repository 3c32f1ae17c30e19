package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2 // a mistake in the command line or the configuration
)

func main() {
	// The first signal asks for a clean stop. It restores the default action, so
	// that a second signal ends the process at once.
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, release)
	code := run(ctx, &terminal{program: os.Args[0], args: os.Args[1:], environ: os.Environ(), in: os.Stdin, out: os.Stdout, err: os.Stderr})
	release()
	os.Exit(code)
}

// terminal is what one run reads from and writes to.
type terminal struct {
	program  string // as it was called
	args     []string
	environ  []string
	in       io.Reader
	out, err io.Writer
}

// lookup finds a variable of the environment.
func (t *terminal) lookup(name string) (value string, ok bool) {
	for _, entry := range t.environ {
		if value, found := strings.CutPrefix(entry, name+"="); found {
			return value, true
		}
	}
	return "", false
}

// errSilent is a failure that the command has shown already.
var errSilent = errors.New("already shown")

// run executes the command line and returns the exit code.
func run(ctx context.Context, t *terminal) int {
	root := newRoot(t)
	root.SetArgs(t.args)
	root.SetIn(t.in)
	root.SetOut(t.out)
	root.SetErr(t.err)
	err := root.ExecuteContext(ctx)
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errSilent):
		return exitFailed
	case errors.As(err, &usage):
		fmt.Fprintf(t.err, "errata: %v\n", err)
		return exitUsage
	default:
		fmt.Fprintf(t.err, "errata: %v\n", err)
		return exitFailed
	}
}
