//go:build linux || darwin

package engine

import (
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// diskRoom says how many bytes this process may still write to the file system of
// path, which need not exist, and the size of that file system in bytes.
func diskRoom(path string) (free, total int64, err error) {
	var stat unix.Statfs_t
	err = unix.Statfs(path, &stat)
	for errors.Is(err, unix.ENOENT) && path != filepath.Dir(path) {
		path = filepath.Dir(path)
		err = unix.Statfs(path, &stat)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("free space of %s: %w", path, err)
	}
	return int64(stat.Bavail) * int64(stat.Bsize), int64(stat.Blocks) * int64(stat.Bsize), nil
}

// syncDisks returns when what any process has written is on disk, names of
// files included.
func syncDisks() { unix.Sync() }
