package datadir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// WriteFile writes a small file that only its owner may read, so that it is there
// whole or not at all, also after a power cut.
func WriteFile(path, text string) error {
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, ".new-*") // 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(temp.Name()) // gone already when all went well
	_, err = temp.WriteString(text)
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return SyncDir(dir)
}

// SyncDir makes names that are new or gone in a folder survive a power cut.
func SyncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return fmt.Errorf("sync folder %s: %w", path, err)
	}
	return nil
}
