package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Usable says what is missing for a disk on this machine; nil when nothing is.
func Usable() error {
	if os.Getuid() != 0 {
		return errors.New("disk: mounts need root")
	}
	for _, path := range []string{"/dev/fuse", "/dev/loop-control"} {
		if unix.Access(path, unix.R_OK|unix.W_OK) != nil {
			return fmt.Errorf("disk: %s cannot be opened", path)
		}
	}
	if _, err := exec.LookPath("mkfs.ext4"); err != nil {
		return fmt.Errorf("disk: install e2fsprogs: %w", err)
	}
	return nil
}

// Report is what a check of the disk has found.
type Report struct {
	Cuts            int
	Synced, Missing int // files written with fsync, and without it and gone after the cut
	Damaged         int // files without fsync that are there with other content
}

const (
	checkSize  = 64 << 20
	checkFiles = 20
	checkBytes = 20_000
)

// Check verifies the disk in an empty folder: files with fsync are whole after
// every cut, and some without it are lost. An error means that cuts on this
// machine prove nothing.
func Check(dir string, seed uint64, cuts int) (report Report, err error) {
	random := rand.New(rand.NewPCG(seed, 1))
	d, err := New(dir, checkSize)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	for cut := range cuts {
		files := map[string]bool{} // by name: with fsync
		for i := range checkFiles {
			name := fmt.Sprintf("%d-%d", cut, i)
			files[name] = random.IntN(2) == 0
			if err := writeFile(d.Path(), name, files[name]); err != nil {
				return report, err
			}
		}
		if _, err := d.Cut(random, func() {}); err != nil {
			return report, err
		}
		if err := d.On(); err != nil {
			return report, err
		}
		report.Cuts++
		if err := report.look(d.Path(), files); err != nil {
			return report, fmt.Errorf("seed %d, cut %d: %w", seed, cut+1, err)
		}
	}
	if report.Missing+report.Damaged == 0 {
		return report, fmt.Errorf("disk: nothing of what was not flushed is gone after %d cuts; the cut cuts nothing", cuts)
	}
	return report, nil
}

// look compares the files with what was written.
func (r *Report) look(dir string, files map[string]bool) error {
	for name, synced := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		switch whole := err == nil && bytes.Equal(got, content(name)); {
		case synced && !whole:
			return fmt.Errorf("disk: %s was written with fsync and is not whole after the cut (%d bytes, %w)", name, len(got), err)
		case synced:
			r.Synced++
		case errors.Is(err, fs.ErrNotExist):
			r.Missing++
		case !whole:
			r.Damaged++
		}
	}
	return nil
}

func content(name string) []byte {
	return bytes.Repeat([]byte(name+" "), checkBytes/(len(name)+1))
}

// writeFile writes one file, and with sync it and its folder to the disk.
func writeFile(dir, name string, sync bool) error {
	file, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		return fmt.Errorf("disk: %w", err)
	}
	defer file.Close()
	if _, err := file.Write(content(name)); err != nil {
		return fmt.Errorf("disk: %w", err)
	}
	if !sync {
		return nil
	}
	folder, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("disk: %w", err)
	}
	defer folder.Close()
	return errors.Join(file.Sync(), folder.Sync())
}
