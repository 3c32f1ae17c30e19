package datadir

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// CopyFolder copies the files of a folder, and of those in it, into another one. Only
// their owner may read the copies. A file that is there already is an error. It does
// not bring them to the disk.
func CopyFolder(to, from string) error { return eachFile(to, from, copyFile) }

// LinkFolder is CopyFolder without copying: both folders have the same files afterwards,
// which must not be changed any more. Between two disks it copies.
func LinkFolder(to, from string) error {
	return eachFile(to, from, func(to, from string) error {
		if err := os.Link(from, to); err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
		return copyFile(to, from)
	})
}

// eachFile makes the folders of a folder in another one, and calls put for each file.
func eachFile(to, from string, put func(to, from string) error) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(to, inside), 0o700)
		}
		return put(filepath.Join(to, inside), path)
	})
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// SumFile is the SHA-256 of a file, as 64 hex digits.
func SumFile(path string) (string, error) {
	in, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
