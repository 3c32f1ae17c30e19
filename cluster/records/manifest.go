package records

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"

	"github.com/errata-log/errata/engine"
)

// Terms say which tables a program can use: those that it would make itself.
type Terms struct {
	// Schema is the version of the tables, Fold that of the rules by which facts become
	// records.
	Schema string `json:"schema"`
	Fold   int    `json:"fold"`
	// Version is that of the program, for people.
	Version string `json:"version"`
}

// ErrOtherVersion says that the tables of another node cannot be used by this program.
var ErrOtherVersion = errors.New("it makes other tables than this node: update both to the same version")

// fit says why tables of other terms cannot be used.
func (t Terms) fit(other Terms) error {
	if t.Schema == other.Schema && t.Fold == other.Fold {
		return nil
	}
	return fmt.Errorf("%w (this one is %s with tables %s of fold %d, that one is %s with tables %s of fold %d)",
		ErrOtherVersion, t.Version, t.Schema, t.Fold, other.Version, other.Schema, other.Fold)
}

// Snapshot is what the tables of a node were at one fact.
type Snapshot struct {
	Terms
	// Position is the last fact that the tables have.
	Position uint64 `json:"position"`
	// Tables are all tables, with their parts in the order in which they were written.
	Tables []engine.FrozenTable `json:"tables"`
	// Files are those of all parts, Bytes their sizes together.
	Files []File `json:"files"`
	Bytes int64  `json:"bytes"`
}

// File is a file of a part.
type File struct {
	// Path is TABLE/PART/NAME, where NAME may have a folder.
	Path string `json:"path"`
	Size int64  `json:"size"`
	// SHA256 has 64 hex digits.
	SHA256 string `json:"sha256"`
}

// plainName is what tables and parts are called. Names become parts of statements and paths.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

// check says why the snapshot cannot be used by a node whose log begins at first.
func (s Snapshot) check(own Terms, first uint64) error {
	if err := own.fit(s.Terms); err != nil {
		return err
	}
	if s.Position+1 < first {
		return fmt.Errorf("its records end at fact %d, and the log begins at %d", s.Position, first)
	}
	for _, t := range s.Tables {
		if !plainName.MatchString(t.Name) {
			return fmt.Errorf("it names the table %q", t.Name)
		}
		for _, p := range t.Parts {
			if !plainName.MatchString(p.Name) {
				return fmt.Errorf("it names the part %q of the table %s", p.Name, t.Name)
			}
		}
	}
	for _, f := range s.Files {
		if !filepath.IsLocal(f.Path) || f.Size < 0 {
			return fmt.Errorf("it names the file %q of %d bytes", f.Path, f.Size)
		}
	}
	return nil
}
