package geo

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// maxUnpacked bounds what one file of an archive may become on disk.
const maxUnpacked = 256 << 20

// unpack takes the wanted files out of a .tgz, each under the plain name given,
// and nothing else: a name in an archive never becomes a path.
func unpack(archive, into string, wanted map[string]string) error {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	packed, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	reader := tar.NewReader(packed)
	for found := 0; found < len(wanted); {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("it holds %d of the %d files that are needed", found, len(wanted))
		}
		if err != nil {
			return err
		}
		as, is := wanted[header.Name]
		if !is || header.Typeflag != tar.TypeReg {
			continue
		}
		if header.Size > maxUnpacked {
			return fmt.Errorf("%s has %d bytes, more than %d", header.Name, header.Size, maxUnpacked)
		}
		if err := write(filepath.Join(into, as), reader); err != nil {
			return err
		}
		found++
	}
	return nil
}

// write puts a new file on disk for good: a rename after it must not outlive
// its bytes in a power cut.
func write(path string, from io.Reader) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640) //nolint:gosec // anybody can get it, so a group may read it
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := io.Copy(file, io.LimitReader(from, maxUnpacked)); err != nil {
		return err
	}
	return file.Sync()
}
