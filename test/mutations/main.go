// Command mutations breaks the promises of the product on purpose, one after
// another, and checks that the tests notice. A test that stays green while its
// promise is broken proves nothing.
//
//	go run ./test/mutations [-only NAME] [-list]
//
// A mutation replaces a few lines of one file, by the overlay of the go command:
// the checkout does not change. Its tests must pass without it and fail with it.
// A mutation that does not compile, or whose lines have moved, is a failure of
// this program.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/errata-log/errata/test/product"
)

// mutation is one promise and how it is broken.
type mutation struct {
	// Name is a few words with dashes.
	Name string
	// Edits are made at once.
	Edits []edit
	// Package and Run name the tests that must notice.
	Package, Run string
}

// edit replaces From, which must stand in File exactly once.
type edit struct{ File, From, To string }

func main() {
	only := flag.String("only", "", "break what has this `name` alone")
	list := flag.Bool("list", false, "print the names")
	flag.Parse()
	ctx := context.Background()
	unnoticed, ran := 0, 0
	for _, m := range mutations {
		if *only != "" && m.Name != *only {
			continue
		}
		ran++
		if *list {
			fmt.Println(m.Name)
			continue
		}
		began := time.Now()
		how, err := m.try(ctx)
		if err != nil {
			unnoticed++
			how = "NOT NOTICED: " + err.Error()
		}
		fmt.Printf("%-32s %6s  %s\n", m.Name, time.Since(began).Round(time.Second), how)
	}
	switch {
	case ran == 0:
		fmt.Fprintf(os.Stderr, "mutations: there is none of the name %q\n", *only)
		os.Exit(2)
	case unnoticed > 0:
		fmt.Fprintf(os.Stderr, "mutations: %d of %d were not noticed\n", unnoticed, ran)
		os.Exit(1)
	}
}

// try returns the test that noticed the mutation. An error says that none did, or
// that the mutation itself is wrong.
func (m mutation) try(ctx context.Context) (noticed string, err error) {
	folder, err := os.MkdirTemp("", "errata-mutation-*")
	if err != nil {
		return "", fmt.Errorf("make a folder for the overlay: %w", err)
	}
	defer os.RemoveAll(folder)
	overlay, err := m.overlay(folder)
	if err != nil {
		return "", err
	}
	if out, err := test(ctx, overlay, "-run", "^$", m.Package); err != nil {
		return "", fmt.Errorf("it does not compile: %w\n%s", err, out)
	}
	if out, err := test(ctx, "", "-run", m.Run, m.Package); err != nil {
		return "", fmt.Errorf("its tests fail without it: %w\n%s", err, last(out))
	} else if bytes.Contains(out, []byte("no tests to run")) {
		return "", fmt.Errorf("no test is called %s in %s", m.Run, m.Package)
	}
	out, err := test(ctx, overlay, "-run", m.Run, m.Package)
	if err == nil {
		return "", fmt.Errorf("%s in %s stays green", m.Run, m.Package)
	}
	return failed(out), nil
}

// overlay writes the changed files and the overlay file for the go command.
func (m mutation) overlay(folder string) (string, error) {
	replaced := map[string]string{}
	texts := map[string]string{}
	for i, e := range m.Edits {
		path, err := filepath.Abs(e.File)
		if err != nil {
			return "", fmt.Errorf("find %s: %w", e.File, err)
		}
		if _, read := texts[path]; !read {
			text, err := os.ReadFile(path)
			if err != nil {
				return "", fmt.Errorf("read what is to be broken: %w", err)
			}
			texts[path] = string(text)
			replaced[path] = filepath.Join(folder, fmt.Sprintf("%d%s", i, filepath.Ext(path)))
		}
		if n := strings.Count(texts[path], e.From); n != 1 {
			return "", fmt.Errorf("%s: the lines to replace stand there %d times, not once; bring the table of mutations up to date:\n%s", e.File, n, e.From)
		}
		texts[path] = strings.Replace(texts[path], e.From, e.To, 1)
	}
	for path, text := range texts {
		if err := os.WriteFile(replaced[path], []byte(text), 0o600); err != nil {
			return "", fmt.Errorf("write the broken file: %w", err)
		}
	}
	told, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", fmt.Errorf("write the overlay: %w", err)
	}
	path := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(path, told, 0o600); err != nil {
		return "", fmt.Errorf("write the overlay: %w", err)
	}
	return path, nil
}

// testTimeout ends tests that hang with a mutation, which is one way to notice.
const testTimeout = "5m"

// test runs tests with the overlay, or without one for "". Tests that start a program build
// it with the same overlay: else they would try a program that is not broken.
func test(ctx context.Context, overlay string, args ...string) ([]byte, error) {
	all := append([]string{"test", "-overlay=" + overlay, "-count=1", "-timeout", testTimeout}, args...)
	run := exec.CommandContext(ctx, "go", all...)
	run.Env = append(os.Environ(), product.Overlay+"="+overlay)
	return run.CombinedOutput()
}

// failed is the first test of the output that failed.
func failed(out []byte) string {
	for line := range strings.Lines(string(out)) {
		if name, found := strings.CutPrefix(strings.TrimSpace(line), "--- FAIL: "); found {
			return "noticed by " + name
		}
	}
	if bytes.Contains(out, []byte("panic: test timed out")) {
		return "noticed: a test did not end"
	}
	return "noticed: " + last(out)
}

// last is the end of the output, for an error message.
func last(out []byte) string {
	const most = 2000
	return string(out[max(0, len(out)-most):])
}
