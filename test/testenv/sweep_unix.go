//go:build unix

package testenv

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// tempPrefix begins the name of every folder that sweep may remove.
const tempPrefix = "errata-testenv-"

// claim marks a folder as in use until release, or until this process ends and
// the kernel releases the lock.
func claim(dir string) (release func() error, err error) {
	file, err := os.Create(filepath.Join(dir, "in-use"))
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file.Close, nil
}

// sweep removes the folders of test processes that were killed.
func sweep() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), tempPrefix+"*")) // the pattern is valid
	for _, dir := range dirs {
		file, err := os.Open(filepath.Join(dir, "in-use"))
		if err != nil {
			continue // it is being made, or it is not ours
		}
		if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.RemoveAll(dir) // best effort
		}
		file.Close()
	}
}
