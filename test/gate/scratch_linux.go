package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// runPrefix begins the names of the data folders of runs, so that a later run
// finds what a killed one has left.
const runPrefix = "errata-gate-run-"

// newRunDir makes the data folder. This process holds its lock file.
func newRunDir() (string, error) {
	dir, err := os.MkdirTemp("", runPrefix)
	if err != nil {
		return "", fmt.Errorf("make the folder for data: %w", err)
	}
	lock, err := os.Create(filepath.Join(dir, "lock"))
	if err == nil {
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		return "", fmt.Errorf("lock the folder for data: %w", err)
	}
	locks = append(locks, lock)
	return dir, nil
}

// locks stay open for as long as the process lives.
var locks []*os.File

// sweep removes what killed runs have left: their mounts first.
func sweep() error {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), runPrefix+"*"))
	if err != nil {
		return fmt.Errorf("look for earlier runs: %w", err)
	}
	for _, dir := range dirs {
		if held(filepath.Join(dir, "lock")) {
			continue
		}
		if err := unmountBelow(dir); err != nil {
			return err
		}
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove what an earlier run left: %w", err)
		}
	}
	return nil
}

// held says whether a living process has the lock.
func held(path string) bool {
	lock, err := os.Open(path)
	if err != nil {
		return false
	}
	defer lock.Close()
	return errors.Is(unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// unmountBelow unmounts everything in a folder, the innermost first.
func unmountBelow(dir string) error {
	text, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return fmt.Errorf("read the mounts: %w", err)
	}
	var mounts []string
	for row := range strings.Lines(string(text)) {
		if fields := strings.Fields(row); len(fields) > 1 && strings.HasPrefix(fields[1], dir+"/") {
			mounts = append(mounts, fields[1])
		}
	}
	slices.Reverse(mounts)
	for _, path := range mounts {
		if err := unix.Unmount(path, unix.MNT_DETACH); err != nil {
			return fmt.Errorf("unmount %s: %w", path, err)
		}
	}
	return nil
}
