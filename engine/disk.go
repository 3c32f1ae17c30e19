package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/errata-log/errata/datadir"
)

// LogRoom says how many bytes the embedded log in a data folder uses, and how many
// are free on its disk. The folder need not exist.
func LogRoom(dataDir string) (used, free int64, err error) {
	path, err := filepath.Abs(dataDir)
	if err != nil {
		return 0, 0, fmt.Errorf("data folder %s: %w", dataDir, err)
	}
	if used, err = usedBytes(filepath.Join(path, datadir.NATSDir)); err != nil {
		return 0, 0, fmt.Errorf("size of the log: %w", err)
	}
	free, _, err = diskRoom(path)
	return used, free, err
}

// DiskRoom says how many bytes are free on the disk of the data folder, and how many
// the disk has.
func (e *Engines) DiskRoom() (free, total int64, err error) { return diskRoom(e.cfg.path("")) }

// SyncFiles returns when the files of an embedded ClickHouse are on disk, names of
// files included. It does nothing for an external one.
func (e *Engines) SyncFiles(context.Context) error {
	if _, embedded := e.EmbeddedClickHouse(); embedded {
		syncDisks()
	}
	return nil
}

// Sync returns when what any process has written is on disk, names of files included.
func Sync() { syncDisks() }

// defaultLogMaxBytes is the room of the log when no setting bounds it. The disk of
// an external NATS is not known here.
func defaultLogMaxBytes(dataDir string, embedded bool) int64 {
	used, free, err := LogRoom(dataDir)
	if !embedded || err != nil {
		return DefaultLogMaxBytes
	}
	return logRoom(free, used)
}

// logRoom is 10 GiB, but at most 80 % of the bytes that the log uses and that are
// free. The used bytes count, or the limit would sink with each restart while the
// log grows. On a disk that others have filled the limit is not below the used
// bytes, or every event would be refused.
func logRoom(free, used int64) int64 {
	room := min(DefaultLogMaxBytes, (free+used)/10*8)
	return max(room, min(used, DefaultLogMaxBytes), leastLogRoom)
}

// usedBytes adds up the files below a folder, 0 when it does not exist.
func usedBytes(root string) (total int64, err error) {
	err = filepath.WalkDir(root, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return gone(err)
		}
		info, err := entry.Info()
		if err == nil {
			total += info.Size()
		}
		return gone(err)
	})
	return total, err
}

// gone is err, or nil where the engine has removed the file in the meantime.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
