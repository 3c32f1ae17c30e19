package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/internal/background"
)

// Config is what a Keeper needs. All fields are required.
type Config struct {
	Dir     *datadir.Dir
	Engines *engine.Engines
	// External says that an engine is a server of somebody else, whose files are not
	// here. Then there are no backups.
	External  bool
	Namespace string
	// Databases have the tables.
	Databases []string
	// Ready is nil when there are tables.
	Ready func() error
	// Hold calls do while nothing is folded; folded is the last fact in the tables.
	Hold func(ctx context.Context, do func(folded uint64) error) error
	// History is held while the log is read.
	History *semaphore.Weighted
	Version string
	Now     func() time.Time
	Logger  *slog.Logger
}

// Keeper makes backups of a running service for whoever opens its socket.
type Keeper struct {
	Config
	listener net.Listener
	work     background.Runner
	busy     *semaphore.Weighted // held by the one backup that is being made
}

// busyPatience is how long a backup waits for the end of another one. A backup whose program was
// killed ends when its next write fails.
const busyPatience = 5 * time.Second

// Start begins to listen.
func Start(c Config) (*Keeper, error) {
	k := &Keeper{Config: c, busy: semaphore.NewWeighted(1)}
	if c.Engines != nil {
		if err := c.Engines.Thaw(engine.BackupLinks); err != nil { // of a service that was killed
			return nil, err
		}
	}
	path := c.Dir.Join(datadir.BackupSocket)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("remove the old socket for backups: %w", err)
	}
	err := near(c.Dir.Path(), func(folder string) (err error) {
		k.listener, err = net.Listen("unix", folder+"/"+datadir.BackupSocket)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listen for backups: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("listen for backups: %w", err), k.listener.Close())
	}
	k.work.Start(k.listen)
	return k, nil
}

// Stop breaks off a backup that is being made, and waits for its end.
func (k *Keeper) Stop(ctx context.Context) error {
	err := errors.Join(k.work.Stop(ctx), os.Remove(k.Dir.Join(datadir.BackupSocket)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// near calls do with a short name of the folder: the path of a socket has at most 107
// bytes.
func near(folder string, do func(short string) error) error {
	dir, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer dir.Close()
	short := fmt.Sprintf("/proc/self/fd/%d", dir.Fd())
	if _, err := os.Stat(short); err != nil {
		short = folder // no Linux
	}
	return do(short)
}

// listen serves connections until ctx ends.
func (k *Keeper) listen(ctx context.Context) {
	defer context.AfterFunc(ctx, func() { k.listener.Close() })()
	var serving sync.WaitGroup
	defer serving.Wait()
	for {
		conn, err := k.listener.Accept()
		if err != nil {
			if ctx.Err() == nil {
				k.Logger.Error("no backups until the next start", "error", err)
			}
			return
		}
		serving.Go(func() { k.serve(ctx, conn) })
	}
}

// serve makes one backup. It breaks off when the other side is gone.
func (k *Keeper) serve(ctx context.Context, conn net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer conn.Close()
	go func() { // ends with conn
		_, _ = io.Copy(io.Discard, conn) // the other side says nothing
		cancel()
	}()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	to := newSender(conn)
	began := time.Now()
	k.Logger.Info("a backup begins")
	t := &taking{Keeper: k, to: to}
	err := k.may(ctx)
	if err == nil {
		err = t.take(ctx)
		k.busy.Release(1)
	}
	end := frame{Done: true}
	if err != nil {
		end.Failed = err.Error()
	}
	if err = errors.Join(err, to.send(end)); err != nil {
		k.Logger.Error("a backup was not made", "error", err, "took", time.Since(began).Round(time.Millisecond))
		return
	}
	k.Logger.Info("a backup was made", "position", t.m.Position, "folded", t.m.Folded, "took", time.Since(began).Round(time.Millisecond))
}

// may says why there is no backup now. With nil it has acquired busy.
func (k *Keeper) may(ctx context.Context) error {
	if k.External {
		return errors.New("the service uses a NATS or a ClickHouse server of your own (nats-url, clickhouse-dsn), and those have backups of their own; docs/operations.md says in which order to make them")
	}
	if err := k.Ready(); err != nil {
		return fmt.Errorf("there are no records to copy: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, busyPatience)
	defer cancel()
	if k.busy.Acquire(ctx, 1) != nil {
		return errors.New("another backup is being made; wait for its end and ask again")
	}
	return nil
}
