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

// maxUnpacked bounds one file of an archive on disk, in bytes.
const maxUnpacked = 256 << 20

// unpack writes only the wanted files of a .tgz, each under the plain name
// given: a name in an archive never becomes a path.
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

// write writes a new file and syncs it, so that a power cut after the rename
// cannot lose its bytes.
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
