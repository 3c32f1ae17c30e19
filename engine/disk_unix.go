//go:build linux || darwin

package engine

import "golang.org/x/sys/unix"

// freeBytes is what this process may still write to the file system of dir.
func freeBytes(dir string) (free int64, ok bool) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, false
	}
	return int64(stat.Bavail) * int64(stat.Bsize), true
}

// SyncDisks returns when what any process has written is on disk, names of
// files included.
func SyncDisks() { unix.Sync() }
