package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/migrations"
)

// roomToRestore is the room of NATS while streams are restored, in bytes. The streams
// have bounds of their own.
const roomToRestore = 1 << 50

// RestoreConfig says what to restore, and where.
type RestoreConfig struct {
	// Folder is the backup, Data the data folder to make, which is missing or empty.
	Folder, Data string
	// Records restores the records alone, for a node that gets the log from its cluster.
	Records bool
	// Options say where the engines of this machine are.
	Options engine.Options
	Logger  *slog.Logger
}

// Restore makes a data folder from a backup, after it has checked every byte. A restore
// that is broken off leaves a folder on which no service starts. Errors: ErrUnfinished,
// ErrDamaged, ErrNewer.
func Restore(ctx context.Context, c RestoreConfig) (m Manifest, err error) {
	if c.Options.NATSURL != "" || c.Options.ClickHouseDSN != "" || c.Options.IsLeaf() {
		return m, errors.New("a backup is restored into the embedded engines; leave out nats-url, clickhouse-dsn and nats-leaf")
	}
	if err := checkEmpty(c.Data); err != nil {
		return m, fmt.Errorf("restore into %s: %w", c.Data, err)
	}
	if m, err = Open(c.Folder); err != nil {
		return m, err
	}
	dir, err := datadir.OpenToRestore(c.Data)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	if err := datadir.WriteFile(dir.Join(datadir.RestoringFile), "errata restore makes this folder from a backup\n"); err != nil {
		return m, err
	}
	if c.Records {
		err = c.restoreRecords(ctx, dir, m)
	} else {
		err = c.restoreAll(ctx, dir, m)
	}
	if err != nil {
		return m, err
	}
	engine.Sync()
	if err := os.Remove(dir.Join(datadir.RestoringFile)); err != nil {
		return m, err
	}
	return m, datadir.Sync(dir.Path())
}

func (c RestoreConfig) restoreAll(ctx context.Context, dir *datadir.Dir, m Manifest) error {
	if err := restoreFiles(dir, filepath.Join(c.Folder, filesDir)); err != nil {
		return fmt.Errorf("restore the files: %w", err)
	}
	err := engine.RestoreStreams(ctx, engine.NATSConfig{StoreDir: dir.Join(datadir.NATSDir), MaxStore: roomToRestore, Logger: c.Logger},
		m.Streams, func(s engine.StreamCopy) (io.ReadCloser, error) {
			return os.Open(filepath.Join(c.Folder, streamPath(s.Name)))
		})
	if err != nil {
		return err
	}
	return c.restoreTables(ctx, dir, m, m.Streams)
}

// restoreRecords restores the tables, which know the log by its time of creation: all nodes
// of a cluster have the same one.
func (c RestoreConfig) restoreRecords(ctx context.Context, dir *datadir.Dir, m Manifest) error {
	if err := c.restoreTables(ctx, dir, m, nil); err != nil {
		return err
	}
	return os.RemoveAll(dir.Join(datadir.NATSDir)) // the engines have made an empty one
}

// restoreTables starts both engines, looks at the streams and makes the tables.
func (c RestoreConfig) restoreTables(ctx context.Context, dir *datadir.Dir, m Manifest, streams []engine.StreamCopy) (err error) {
	options := engine.Options{EngineBinary: c.Options.EngineBinary, LibCHDB: c.Options.LibCHDB}
	engines, err := engine.Start(ctx, engine.Config{Options: options, Dir: dir, Logger: c.Logger})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engines.Stop(context.WithoutCancel(ctx))) }()
	if err := engine.CheckCopies(ctx, engines.JetStream(), streams); err != nil {
		return err
	}
	if queue := migrations.IntakeStream(""); slices.ContainsFunc(streams, func(s engine.StreamCopy) bool { return s.Name == queue }) {
		log := eventlog.Log{JetStream: engines.JetStream(), Stream: migrations.StreamName(""), Prefix: migrations.SubjectPrefix("")}
		if err := eventlog.GoOnAfterMark(ctx, log, queue); err != nil {
			return err
		}
	}
	for _, t := range m.Tables {
		if err := engines.PutTable(ctx, t, filepath.Join(c.Folder, tablePath(t))); err != nil {
			return err
		}
	}
	return nil
}

// restoreFiles copies the plain files.
func restoreFiles(dir *datadir.Dir, from string) error {
	if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
		return nil // there was none
	}
	return datadir.CopyFolder(dir.Path(), from)
}
