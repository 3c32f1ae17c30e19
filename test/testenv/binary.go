package testenv

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/test/product"
)

// EngineBinary is the path of an errata-engine built from this source, for
// tests that start the service themselves.
func EngineBinary(t testing.TB) string {
	t.Helper()
	path, err := buildEngine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// buildEngine builds errata-engine once for all test processes: the cache folder
// keeps the result under a hash of its sources.
func buildEngine(ctx context.Context) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", fmt.Errorf("testenv: %w", err)
	}
	key, err := sourceKey(root)
	if err != nil {
		return "", fmt.Errorf("testenv: read the source of errata-engine: %w", err)
	}
	cache, err := engine.CacheDir()
	if err != nil {
		return "", err
	}
	if overlay := os.Getenv(product.Overlay); overlay != "" {
		cache = filepath.Dir(overlay) // another program, which goes with its overlay
	}
	dir := filepath.Join(cache, "errata-engine-"+key)
	path := filepath.Join(dir, "errata-engine")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("testenv: %w", err)
	}
	// Several test processes may build at once: each builds a file of its own,
	// and the last rename wins.
	temp, err := os.MkdirTemp(dir, "build")
	if err != nil {
		return "", fmt.Errorf("testenv: %w", err)
	}
	defer os.RemoveAll(temp)
	built, err := product.Build(ctx, root, "errata-engine", temp)
	if err != nil {
		return "", fmt.Errorf("testenv: %w", err)
	}
	if err := os.Rename(built, path); err != nil {
		return "", fmt.Errorf("testenv: %w", err)
	}
	return path, nil
}

// moduleRoot is the folder of go.mod at or above the test's working directory,
// which go test sets to the folder of the package.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("errata-engine is built from source, and no go.mod is at or above the working directory")
		}
		dir = parent
	}
}

// sourceKey is a hash of everything that the binary is built from.
func sourceKey(root string) (string, error) {
	files, err := fs.Glob(os.DirFS(root), "cmd/errata-engine/*.go")
	if err != nil {
		return "", err
	}
	if len(files) == 0 {
		return "", fs.ErrNotExist
	}
	return keyOf(root, append(files, "go.mod", "go.sum"), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// keyOf is a hash of the named files below root, with their names, and of the values in
// also.
func keyOf(root string, files []string, also ...any) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, also...)
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, name, len(text))
		h.Write(text)
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}
