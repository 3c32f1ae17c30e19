package backup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/errata-log/errata/datadir"
)

// keptDirs are the folders of the data folder that a backup has with all their files:
// the first keys, the location databases, and what ACME has issued: ACME servers issue a
// few certificates a week. NATS and ClickHouse have their own copies, and old error files
// belong to whoever has put them there.
var keptDirs = []string{datadir.KeysDir, "geo", datadir.ACMEDir}

// leftOut are the files in the data folder that say something about its streams and
// tables. The next start makes them again from those.
var leftOut = []string{"log.mark", "selfcheck.json", datadir.KeyCopiesFile, datadir.LeafIDFile, datadir.RestoringFile}

// plainFiles are the files of the data folder for a backup: all in the folder itself,
// such as those with secrets, and those in keptDirs.
func plainFiles(data string) (names []string, err error) {
	entries, err := os.ReadDir(data)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		name := entry.Name()
		// A secret may be a link to its file.
		if info, err := os.Stat(filepath.Join(data, name)); err == nil && info.Mode().IsRegular() && !slices.Contains(leftOut, name) && !passing(name) {
			names = append(names, name)
		}
	}
	for _, dir := range keptDirs {
		err := filepath.WalkDir(filepath.Join(data, dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() || passing(entry.Name()) {
				return err
			}
			name, err := filepath.Rel(data, path)
			names = append(names, name)
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return names, nil
}

// passing says whether a file is one of a running process: a lock, or a file that is
// being written.
func passing(name string) bool {
	return strings.HasSuffix(name, ".lock") || strings.HasSuffix(name, ".new") || strings.HasPrefix(name, ".")
}
