//go:build unix

package engine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// dirLock keeps a second service off a data directory. The kernel lets go of
// it when the process ends, however it ends.
type dirLock struct{ file *os.File }

func lockDir(dir string) (*dirLock, error) {
	path := filepath.Join(dir, "lock")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("engine: open the lock of the data directory: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("engine: the data directory %s is in use by another errata (%s); stop that one, or give this one a directory of its own", dir, holder(file))
		}
		return nil, fmt.Errorf("engine: lock %s: %w", path, err)
	}
	// The process id is for the sentence above; the lock does not depend on it.
	if err := errors.Join(file.Truncate(0), writeAt(file, fmt.Sprintf("%d\n", os.Getpid()))); err != nil {
		file.Close()
		return nil, fmt.Errorf("engine: write %s: %w", path, err)
	}
	return &dirLock{file: file}, nil
}

func writeAt(file *os.File, text string) error {
	_, err := file.WriteAt([]byte(text), 0)
	return err
}

func holder(file *os.File) string {
	text, err := io.ReadAll(io.LimitReader(file, 32))
	if pid := strings.TrimSpace(string(text)); err == nil && pid != "" {
		return "process " + pid
	}
	return "process unknown"
}

// release lets go of the directory. The file stays: removing it would let two
// services hold locks on two files of the same name.
func (l *dirLock) release() error { return l.file.Close() }
