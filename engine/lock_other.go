//go:build !unix

package engine

import (
	"fmt"
	"os"
	"path/filepath"
)

// dirLock keeps a second service off a data directory by a file that must not
// exist. Unlike the lock of other systems it outlives a killed process.
type dirLock struct{ path string }

func lockDir(dir string) (*dirLock, error) {
	path := filepath.Join(dir, "lock")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("engine: the data directory %s is in use by another errata, or one was killed; remove %s if none runs: %w", dir, path, err)
	}
	return &dirLock{path: path}, file.Close()
}

func (l *dirLock) release() error { return os.Remove(l.path) }
