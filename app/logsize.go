package app

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// natsDir is where the embedded log is kept, below the data folder.
const natsDir = "nats"

// freeDisk is the number of bytes that this process may still write to the
// file system that holds path, or would hold it.
func freeDisk(path string) (int64, error) {
	free, _, err := diskRoom(path)
	return free, err
}

// diskRoom is what freeDisk says, and the size of the file system, in bytes.
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

// treeSize sums the sizes of the files below a folder; 0 when there is none.
func treeSize(root string) (int64, error) {
	var sum int64
	err := filepath.WalkDir(root, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the engine removed it meanwhile
		}
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return sum, err
}

// LogRoom says what the embedded log of these options may grow to (0 when the
// service decides by the room on the disk), what it uses, and how much of its
// disk is free, in bytes.
func LogRoom(o Options) (limit, used, free int64, err error) {
	path, err := filepath.Abs(o.Data)
	if err != nil {
		return 0, 0, 0, fmt.Errorf("data folder %s: %w", o.Data, err)
	}
	if used, err = treeSize(filepath.Join(path, natsDir)); err != nil {
		return 0, 0, 0, fmt.Errorf("size of the log: %w", err)
	}
	free, err = freeDisk(path)
	return o.LogMaxBytes, used, free, err
}
