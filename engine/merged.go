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
	"time"

	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/internal/background"
)

const (
	// mergedEvery is the pause between two looks for merged parts. ClickHouse removes the parts that
	// were merged five seconds after the merge (old_parts_lifetime).
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
	store   string             // folder of the folders of the tables
	folders map[string]listing // the store, its folders, and the tables in them
	synced  map[string]bool    // folders of merged parts
	sync    func(folder string) error
}

// listing is what a folder had at the last look. Reading all folders each second was a tenth of
// the work of a service at rest.
type listing struct {
	changed time.Time // when the folder had changed
	settled bool      // that was mergedSettled before
	names   []string  // of a table only the merged parts
}

func newMergedParts(dataDir string) *mergedParts {
	return &mergedParts{store: filepath.Join(dataDir, "store"), folders: map[string]listing{}, synced: map[string]bool{}, sync: syncTree}
}

// run looks again and again until ctx ends.
func (m *mergedParts) run(ctx context.Context, log *slog.Logger) {
	background.Loop{Do: m.look, Every: mergedEvery, Failed: background.Tell(log.Warn, "merged parts are not synced")}.Run(ctx)
}

// look syncs the merged parts that have come since the last look.
func (m *mergedParts) look(ctx context.Context) error {
	parts, failed := m.parts()
	if failed != nil {
		failed = fmt.Errorf("list the merged parts: %w", failed)
	}
	there := make(map[string]bool, len(parts))
	for _, part := range parts {
		there[part] = true
		if m.synced[part] {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := m.sync(part); err != nil {
			return errors.Join(failed, fmt.Errorf("sync a merged part: %w", err))
		}
		m.synced[part] = true
	}
	maps.DeleteFunc(m.synced, func(part string, _ bool) bool { return !there[part] })
	return failed
}

// parts returns the folders of all merged parts.
func (m *mergedParts) parts() (level []string, err error) {
	folders := map[string]listing{}
	level = []string{m.store}
	for _, relevant := range [...]*regexp.Regexp{nil, nil, mergedPart} {
		var below []string
		for _, folder := range level {
			now, failed := m.read(folder, relevant)
			err = errors.Join(err, failed)
			folders[folder] = now
			for _, name := range now.names {
				below = append(below, filepath.Join(folder, name))
			}
		}
		level = below
	}
	m.folders = folders
	return level, err
}

// read lists the relevant names in a folder, nil for all, from memory when it has not changed. A
// folder that is gone is empty.
func (m *mergedParts) read(folder string, relevant *regexp.Regexp) (listing, error) {
	info, err := os.Stat(folder)
	if err != nil {
		return listing{}, gone(err)
	}
	last, now := m.folders[folder], listing{changed: info.ModTime(), settled: time.Since(info.ModTime()) > mergedSettled}
	if last.settled && now.changed.Equal(last.changed) {
		return last, nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return listing{}, gone(err)
	}
	for _, e := range entries {
		if relevant == nil || relevant.MatchString(e.Name()) {
			now.names = append(now.names, e.Name())
		}
	}
	return now, nil
}

// syncTree syncs all files below the folder, and the folders. What is gone by now needs no sync.
func syncTree(folder string) error {
	return filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			err = datadir.Sync(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}
