//go:build !unix

package testenv

import (
	"os"
	"path/filepath"
)

// tempPrefix begins the name of the folder of a test process.
const tempPrefix = "errata-testenv-"

// usedName is the last file that is written into a folder.
const usedName = "in-use"

func claim(dir string) (release func() error, err error) {
	return func() error { return nil }, os.WriteFile(filepath.Join(dir, usedName), nil, 0o600)
}

func share(dir string) (release func() error, err error) {
	_, err = os.Stat(filepath.Join(dir, usedName))
	return func() error { return nil }, err
}

func sweep(string) {}
