//go:build unix

package testenv

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// tempPrefix begins the name of every folder of a test process.
	tempPrefix = "errata-testenv-"
	// usedName is the file whose lock says that a folder is in use.
	usedName = "in-use"
	// sweepAge is how old a folder must be before sweep removes it: a younger one
	// may be made at this moment, and have no lock yet.
	sweepAge = time.Minute
)

// claim marks a new folder as in use until release, or until this process ends and
// the kernel releases the lock.
func claim(dir string) (release func() error, err error) {
	file, err := os.Create(filepath.Join(dir, usedName))
	if err != nil {
		return nil, err
	}
	return lock(file)
}

// share marks a folder that others have made as in use, like claim. The error is
// fs.ErrNotExist when there is no such folder.
func share(dir string) (release func() error, err error) {
	file, err := os.Open(filepath.Join(dir, usedName))
	if err != nil {
		return nil, err
	}
	if release, err = lock(file); err != nil {
		return nil, err
	}
	mine, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, release())
	}
	if there, err := os.Stat(file.Name()); err != nil || !os.SameFile(mine, there) {
		// It was removed between the opening and the lock.
		return nil, errors.Join(fs.ErrNotExist, release())
	}
	return release, nil
}

// lock waits while sweep removes the folder of the file.
func lock(file *os.File) (release func() error, err error) {
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_SH); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file.Close, nil
}

// sweep removes the folders that no process uses any more, and whose path begins so.
func sweep(prefix string) {
	dirs, _ := filepath.Glob(prefix + "*") // the pattern is valid
	for _, dir := range dirs {
		file, err := os.Open(filepath.Join(dir, usedName))
		if err != nil {
			continue // it is being made, or it is not ours
		}
		info, err := file.Stat()
		if err == nil && time.Since(info.ModTime()) > sweepAge && syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.RemoveAll(dir) // best effort
		}
		file.Close()
	}
}
