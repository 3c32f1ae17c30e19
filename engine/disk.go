package engine

import (
	"io/fs"
	"path/filepath"
)

// defaultLogMaxBytes is the room of the log when nobody has set it. An external
// NATS has its own disk, of which nothing is known here.
func defaultLogMaxBytes(dataDir, storeDir string, embedded bool) int64 {
	if !embedded {
		return DefaultLogMaxBytes
	}
	free, ok := freeBytes(dataDir)
	if !ok {
		return DefaultLogMaxBytes
	}
	return logRoom(free, usedBytes(storeDir))
}

// logRoom is 10 GiB, but at most 80 % of what the log has and could have. What
// it has counts, or the limit would sink with every restart while the log
// grows; and on a disk that others have filled the limit is not below what the
// log holds, or every event would be refused.
func logRoom(free, used int64) int64 {
	room := min(DefaultLogMaxBytes, (free+used)/10*8)
	return max(room, min(used, DefaultLogMaxBytes), minLogMaxBytes)
}

// usedBytes adds up the files below a folder, 0 when it does not exist.
func usedBytes(dir string) (total int64) {
	// Files may vanish while it looks; what cannot be read is not counted.
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total
}
