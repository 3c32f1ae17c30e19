package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/migrations"
)

const (
	// holdTimeout bounds how long the projector waits for the tables to be linked.
	holdTimeout = time.Minute
	// copyTries bounds how often a bucket is copied whose messages were replaced
	// meanwhile.
	copyTries = 20
)

// copyPauses are the pauses between those tries.
var copyPauses = background.Pauses{First: 10 * time.Millisecond, Most: time.Second}

// followers are the streams that say how far something has followed the log, or what
// came of its facts, and the queue of the module and query logs, whose entries go into
// the tables. They are copied before what they follow and before the tables. A bucket
// that says how far somebody is comes before what he has made.
func followers(namespace string) []string {
	buckets := []string{
		migrations.RequestsBucket(namespace), migrations.AlertsBucket(namespace), migrations.DeliveriesBucket(namespace),
		migrations.FamiliarBucket(namespace), migrations.ChallengesBucket(namespace), migrations.EnrolmentsBucket(namespace),
	}
	names := []string{migrations.AuditStream(namespace), migrations.ExchangesStream(namespace)}
	for _, bucket := range buckets {
		names = append(names, bucketStream(bucket))
	}
	return names
}

// sources are the streams that are copied after the tables and before the log. An event
// that moves from its queue to the log meanwhile is in both copies: the restored service
// moves it again, and the fold knows its id. A letter that is refused meanwhile is in the
// queue, or among the dead ones.
func sources(namespace string) []string {
	return []string{
		bucketStream(migrations.KeysBucket(namespace)), bucketStream(migrations.ImportsBucket(namespace)),
		migrations.IntakeStream(namespace), migrations.DeadStream(namespace),
	}
}

func bucketStream(bucket string) string { return "KV_" + bucket }

// taking is one backup that is being made.
type taking struct {
	*Keeper
	to *sender
	m  Manifest
}

// take makes a backup and sends it.
func (t *taking) take(ctx context.Context) error {
	// A purge would take facts from the log that the links of the tables lack.
	if err := t.History.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("wait for a replay or a purge of the log: %w", err)
	}
	defer t.History.Release(1)
	t.m = Manifest{Format: format, Errata: t.Version, Made: t.Now().UTC()}
	if err := t.sendFiles(); err != nil {
		return fmt.Errorf("read the files of the data folder: %w", err)
	}
	if err := t.copyStreams(ctx, followers(t.Namespace)); err != nil {
		return err
	}
	defer func() {
		if err := t.Engines.Thaw(engine.BackupLinks); err != nil {
			t.Logger.Warn("links of a backup are left in the tables' folder until the next start", "error", err)
		}
	}()
	if err := t.freeze(ctx); err != nil {
		return err
	}
	if err := t.copyStreams(ctx, sources(t.Namespace)); err != nil {
		return err
	}
	if err := t.copyLog(ctx); err != nil {
		return err
	}
	if err := t.sendTables(); err != nil {
		return fmt.Errorf("read the tables: %w", err)
	}
	return t.sendManifest()
}

func (t *taking) sendFiles() error {
	names, err := plainFiles(t.Dir.Path())
	if err != nil {
		return err
	}
	for _, name := range names {
		err := t.to.copyFile(filepath.Join(filesDir, name), t.Dir.Join(name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			return err
		}
	}
	return nil
}

// freeze links the parts of the tables while nothing is folded.
func (t *taking) freeze(ctx context.Context) error {
	began := time.Now()
	err := t.Hold(ctx, func(folded uint64) (err error) {
		ctx, cancel := context.WithTimeout(ctx, holdTimeout)
		defer cancel()
		t.m.Folded = folded
		t.m.Tables, err = t.Engines.Freeze(ctx, engine.BackupLinks, t.Databases...)
		return err
	})
	t.Logger.Info("a backup has linked the tables", "folding_waited", time.Since(began).Round(time.Millisecond), "folded", t.m.Folded)
	return err
}

func (t *taking) copyStreams(ctx context.Context, names []string) error {
	for _, name := range names {
		for tries, n := copyPauses.Begin(), 1; ; n++ {
			err := t.copyStream(ctx, name)
			if err == nil {
				break
			}
			if !errors.Is(err, engine.ErrCopyIncomplete) || n == copyTries || !tries.Wait(ctx) {
				return err
			}
		}
	}
	return nil
}

func (t *taking) copyStream(ctx context.Context, name string) error {
	out, err := t.to.file(streamPath(name))
	if err != nil {
		return err
	}
	c, err := t.Engines.NATS.CopyStream(ctx, name, out)
	if err == nil {
		t.m.Streams = append(t.m.Streams, c)
	}
	return err
}

func (t *taking) copyLog(ctx context.Context) error {
	if err := t.copyStream(ctx, migrations.StreamName(t.Namespace)); errors.Is(err, engine.ErrCopyIncomplete) {
		return fmt.Errorf("the log lacks facts; errata log verify says which: %w", err)
	} else if err != nil {
		return err
	}
	log := t.m.Streams[len(t.m.Streams)-1]
	t.m.Position, t.m.At = log.Last, log.LastTime
	if t.m.Folded > t.m.Position {
		return fmt.Errorf("the records hold fact %d and the log ends at %d", t.m.Folded, t.m.Position)
	}
	return nil
}

func (t *taking) sendTables() error {
	for _, table := range t.m.Tables {
		for _, p := range table.Parts {
			err := filepath.WalkDir(p.Folder(), func(path string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() {
					return err
				}
				inside, err := filepath.Rel(p.Folder(), path)
				if err != nil {
					return err
				}
				return t.to.copyFile(filepath.Join(partPath(table, p), inside), path)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *taking) sendManifest() error {
	text, err := json.MarshalIndent(t.m, "", "  ")
	if err != nil {
		return err
	}
	out, err := t.to.file(manifestFile)
	if err == nil {
		_, err = out.Write(append(text, '\n'))
	}
	return err
}
