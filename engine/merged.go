package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/errata-log/errata/internal/background"
)

const (
	// mergedEvery is the pause between two looks for merged parts. ClickHouse keeps the parts
	// that were merged for five seconds (old_parts_lifetime).
	mergedEvery = time.Second
	// mergedSettled is how long a folder must not have changed before its time of change says
	// that nothing has come: file systems keep times in steps of some milliseconds.
	mergedSettled = 2 * mergedEvery
)

// mergedPart is the name of a part that a merge or a mutation has made.
var mergedPart = regexp.MustCompile(`^all_\d+_\d+_([1-9]\d*|\d+_\d+)$`)

// mergedParts brings what merges write to the disk. ClickHouse syncs the columns of a merged
// part, and neither its text indexes nor its ClickHouse projections. It does not load a part
// after a power cut whose text index is empty, and the parts that were merged are gone by then.
type mergedParts struct {
	store  string                     // folder of the tables
	looked map[string]time.Time       // when the folder of a table had changed, at the last look
	synced map[string]map[string]bool // parts of a table
	sync   func(folder string) error
}

func newMergedParts(dataDir string) *mergedParts {
	return &mergedParts{
		store:  filepath.Join(dataDir, "store"),
		looked: map[string]time.Time{}, synced: map[string]map[string]bool{}, sync: syncTree,
	}
}

// run looks again and again until ctx ends.
func (m *mergedParts) run(ctx context.Context, log *slog.Logger) {
	background.Loop{Do: m.look, Every: mergedEvery, Failed: background.Tell(log.Warn, "merged parts are not synced")}.Run(ctx)
}

// look syncs the merged parts that have come since the last look.
func (m *mergedParts) look(ctx context.Context) error {
	tables, err := filepath.Glob(filepath.Join(m.store, "*", "*"))
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
	return nil
}

func (m *mergedParts) lookInto(table string) error {
	info, err := os.Stat(table)
	if err != nil {
		return err
	}
	changed := info.ModTime()
	if changed.Equal(m.looked[table]) && time.Since(changed) > mergedSettled {
		return nil
	}
	entries, err := os.ReadDir(table)
	if err != nil {
		return err
	}
	synced := map[string]bool{}
	for _, e := range entries {
		name := e.Name()
		if !mergedPart.MatchString(name) {
			continue
		}
		if !m.synced[table][name] {
			if err := m.sync(filepath.Join(table, name)); err != nil {
				return err
			}
		}
		synced[name] = true
	}
	m.looked[table], m.synced[table] = changed, synced
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
