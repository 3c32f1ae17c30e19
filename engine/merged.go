package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/errata-log/errata/internal/background"
)

const (
	// mergedEvery is the pause between two looks for merged parts. After a merge ClickHouse keeps
	// the parts that it merged for five seconds (old_parts_lifetime).
	mergedEvery = time.Second
	// mergedSettled is how long a folder must not have changed before its time of change says
	// that nothing has come: file systems keep times in steps of some milliseconds.
	mergedSettled = 2 * mergedEvery
)

// mergedPart is the name of a part that a merge or a mutation has made.
var mergedPart = regexp.MustCompile(`^all_\d+_\d+_([1-9]\d*|\d+_\d+)$`)

// mergedParts syncs all files of each merged part. ClickHouse syncs only the columns, and neither
// text indexes nor ClickHouse projections. After a power cut a text index may be empty: then
// ClickHouse does not load the part, and the parts that it merged are gone.
type mergedParts struct {
	store   string                 // folder of the folders of the tables
	folders map[string]listing     // the store and its folders
	tables  map[string]syncedTable // by folder
	sync    func(folder string) error
}

// listing is what a folder had at the last look. To read 30 folders again each second would take
// a tenth of what a service at rest takes.
type listing struct {
	changed time.Time // when the folder had changed
	names   []string
}

// syncedTable is a table at the last look.
type syncedTable struct {
	changed time.Time       // when its folder had changed
	parts   map[string]bool // merged parts, all synced
}

func newMergedParts(dataDir string) *mergedParts {
	return &mergedParts{store: filepath.Join(dataDir, "store"), folders: map[string]listing{}, tables: map[string]syncedTable{}, sync: syncTree}
}

// run looks again and again until ctx ends.
func (m *mergedParts) run(ctx context.Context, log *slog.Logger) {
	background.Loop{Do: m.look, Every: mergedEvery, Failed: background.Tell(log.Warn, "merged parts are not synced")}.Run(ctx)
}

// look syncs the merged parts that have come since the last look.
func (m *mergedParts) look(ctx context.Context) error {
	tables, err := m.list()
	if err != nil {
		return fmt.Errorf("list the folders of the tables: %w", err)
	}
	for _, table := range tables {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := m.lookInto(table); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("sync the merged parts of a table: %w", err)
		}
	}
	maps.DeleteFunc(m.tables, func(table string, _ syncedTable) bool { return !slices.Contains(tables, table) })
	return nil
}

// list returns the folders of the tables.
func (m *mergedParts) list() (tables []string, err error) {
	folders := map[string]listing{}
	read := func(folder string) ([]string, error) {
		now, err := m.read(folder)
		folders[folder] = now
		return now.names, err
	}
	groups, err := read(m.store)
	for _, group := range groups {
		some, failed := read(filepath.Join(m.store, group))
		err = errors.Join(err, failed)
		for _, table := range some {
			tables = append(tables, filepath.Join(m.store, group, table))
		}
	}
	m.folders = folders
	return tables, err
}

// read lists a folder, from memory when it has not changed. One that is gone is empty.
func (m *mergedParts) read(folder string) (listing, error) {
	info, err := os.Stat(folder)
	if err != nil {
		return listing{}, gone(err)
	}
	last, now := m.folders[folder], listing{changed: info.ModTime()}
	if settled(last.changed, now.changed) {
		return last, nil
	}
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		now.names = append(now.names, e.Name())
	}
	return now, gone(err)
}

// settled says whether a folder that had changed then and has changed now cannot have other names.
func settled(then, now time.Time) bool {
	return now.Equal(then) && time.Since(now) > mergedSettled
}

func (m *mergedParts) lookInto(table string) error {
	info, err := os.Stat(table)
	if err != nil {
		return err
	}
	last, now := m.tables[table], syncedTable{changed: info.ModTime(), parts: map[string]bool{}}
	if settled(last.changed, now.changed) {
		return nil
	}
	entries, err := os.ReadDir(table)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		if !mergedPart.MatchString(name) {
			continue
		}
		if !last.parts[name] {
			if err := m.sync(filepath.Join(table, name)); err != nil {
				return err
			}
		}
		now.parts[name] = true
	}
	m.tables[table] = now
	return nil
}

// syncTree syncs all files below the folder, and the folders. What is gone by now needs no sync.
func syncTree(folder string) error {
	return filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			err = syncFile(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
