package backup

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/engine"
)

const (
	// format is the version of the layout of a backup. A program refuses a newer one.
	format = 1

	manifestFile = "backup.json"
	// sumsFile lists all other files with their checksums, as sha256sum reads them. It
	// is written last: a folder without it is no backup.
	sumsFile = "SHA256SUMS"

	filesDir   = "files"
	streamsDir = "streams"
	tablesDir  = "tables"
)

// Manifest says what a backup holds. It stands in backup.json.
type Manifest struct {
	Format int       `json:"format"`
	Errata string    `json:"errata"` // the version of the service
	Made   time.Time `json:"made"`
	// Position is the last fact of the log in the backup, At when the log took it.
	Position uint64    `json:"position"`
	At       time.Time `json:"at"`
	// Folded is the last fact that the tables hold. A restored service folds the rest.
	Folded  uint64               `json:"folded"`
	Streams []engine.StreamCopy  `json:"streams"`
	Tables  []engine.FrozenTable `json:"tables"`
	// Bytes is the size of all files but backup.json and SHA256SUMS.
	Bytes int64 `json:"bytes"`
}

// Errors of a folder that cannot be restored.
var (
	ErrUnfinished = errors.New("it has no " + sumsFile + ", so it is no backup, or one that was broken off")
	ErrDamaged    = errors.New("the backup is damaged")
	ErrNewer      = errors.New("a newer version of Errata has made the backup; restore it with that version")
)

// Open reads what a backup holds, and checks every byte of it. Errors: ErrUnfinished,
// ErrDamaged, ErrNewer.
func Open(folder string) (Manifest, error) {
	sums, err := readSums(folder)
	if err != nil {
		return Manifest{}, fmt.Errorf("backup %s: %w", folder, err)
	}
	m, err := readManifest(folder)
	if err == nil {
		err = checkFiles(folder, sums)
	}
	if err == nil {
		err = m.complete(sums)
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("backup %s: %w", folder, err)
	}
	return m, nil
}

func readManifest(folder string) (m Manifest, err error) {
	text, err := os.ReadFile(filepath.Join(folder, manifestFile))
	if err != nil {
		return m, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	var version struct{ Format int }
	if err := json.Unmarshal(text, &version); err != nil {
		return m, fmt.Errorf("%w: %s: %w", ErrDamaged, manifestFile, err)
	}
	if version.Format > format {
		return m, fmt.Errorf("format %d, this one knows %d: %w", version.Format, format, ErrNewer)
	}
	if err := json.Unmarshal(text, &m); err != nil || m.Format < 1 {
		return m, fmt.Errorf("%w: %s: %w", ErrDamaged, manifestFile, err)
	}
	return m, nil
}

// readSums reads the checksums by the paths of the files.
func readSums(folder string) (map[string]string, error) {
	in, err := os.Open(filepath.Join(folder, sumsFile))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(folder); err != nil {
			return nil, err
		}
		return nil, ErrUnfinished
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	sums := map[string]string{}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		if !ok || !filepath.IsLocal(name) {
			return nil, fmt.Errorf("%w: %s has the line %q", ErrDamaged, sumsFile, lines.Text())
		}
		sums[name] = sum
	}
	return sums, lines.Err()
}

// checkFiles compares all files with their checksums.
func checkFiles(folder string, sums map[string]string) error {
	found := map[string]bool{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil || name == sumsFile {
			return err
		}
		want, listed := sums[name]
		if !listed {
			return fmt.Errorf("%w: %s does not list the file %s", ErrDamaged, sumsFile, name)
		}
		found[name] = true
		if got, err := datadir.SumFile(path); err != nil || got != want {
			return errors.Join(fmt.Errorf("%w: the file %s is not what was written", ErrDamaged, name), err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for name := range sums {
		if !found[name] {
			return fmt.Errorf("%w: the file %s is missing", ErrDamaged, name)
		}
	}
	return nil
}

// complete says whether the files of all streams and parts are listed.
func (m Manifest) complete(sums map[string]string) error {
	if _, ok := sums[manifestFile]; !ok {
		return fmt.Errorf("%w: %s does not list %s", ErrDamaged, sumsFile, manifestFile)
	}
	for _, s := range m.Streams {
		if _, ok := sums[streamPath(s.Name)]; !ok {
			return fmt.Errorf("%w: the stream %s is missing", ErrDamaged, s.Name)
		}
	}
	folders := map[string]bool{}
	for name := range sums {
		folders[filepath.Dir(name)] = true
	}
	for _, t := range m.Tables {
		if i := slices.IndexFunc(t.Parts, func(p engine.FrozenPart) bool { return !folders[partPath(t, p)] }); i >= 0 {
			return fmt.Errorf("%w: the part %s of the table %s is missing", ErrDamaged, t.Parts[i].Name, t.Name)
		}
	}
	return nil
}

func streamPath(name string) string { return filepath.Join(streamsDir, name) }

func tablePath(t engine.FrozenTable) string { return filepath.Join(tablesDir, t.Database, t.Name) }

func partPath(t engine.FrozenTable, p engine.FrozenPart) string {
	return filepath.Join(tablePath(t), p.Name)
}
