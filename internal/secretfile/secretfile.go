// Package secretfile reads a secret of this machine from a file and makes it once. It never
// replaces a secret: what was sealed or hashed with it would be lost.
package secretfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// Bytes is the length of a secret.
const Bytes = 32

// Load reads the secret in the file of a folder, and makes it with mode 0600 when there is
// none. Two processes that start at the same time get the same secret. without says what is
// lost without it, for an error; errors say what to do.
func Load(dir, name, without string) ([]byte, error) {
	path := filepath.Join(dir, name)
	secret, err := read(path, without)
	if errors.Is(err, os.ErrNotExist) {
		if err = create(dir, path); err == nil {
			secret, err = read(path, without)
		}
	}
	return secret, err
}

func read(path, without string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the server secret: %w", err)
	}
	defer file.Close()
	stat, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the server secret: %w", err)
	}
	switch {
	case !stat.Mode().IsRegular():
		return nil, fmt.Errorf("read the server secret: %s is not a file", path)
	case runtime.GOOS != "windows" && stat.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("the server secret %s can be read by others (mode %04o): run chmod 600 on it", path, stat.Mode().Perm())
	case stat.Size() != Bytes:
		return nil, fmt.Errorf("the server secret %s has %d bytes and must have %d: put the right file back; without it, %s", path, stat.Size(), Bytes, without)
	}
	secret := make([]byte, Bytes)
	if _, err := io.ReadFull(file, secret); err != nil {
		return nil, fmt.Errorf("read the server secret: %w", err)
	}
	return secret, nil
}

// create writes the file under another name first: nobody ever sees half of it, and a link,
// unlike a rename, never replaces the one of a faster process.
func create(dir, path string) (err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder for the server secret: %w", err)
	}
	secret := make([]byte, Bytes)
	if _, err := rand.Read(secret); err != nil {
		return fmt.Errorf("draw the server secret: %w", err)
	}
	file, err := os.CreateTemp(dir, ".secret-*") // mode 0600
	if err != nil {
		return fmt.Errorf("make the server secret: %w", err)
	}
	defer func() { _ = os.Remove(file.Name()) }() // it is linked by now, or useless
	_, err = file.Write(secret)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("write the server secret: %w", err)
	}
	if err := os.Link(file.Name(), path); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("put the server secret in its place: %w", err)
	}
	return nil
}
