package datadir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// WriteFile replaces a small file that only its owner may read. After a crash or a
// power cut there is either the old or the whole new file.
func WriteFile(path, text string) error {
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, ".new-*") // 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(temp.Name()) // it does not exist any more after a success
	_, err = temp.WriteString(text)
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return Sync(dir)
}

// Sync brings a file to the disk, or the added and removed names of a folder.
func Sync(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("sync %s: %w", path, err)
	}
	return nil
}
