package records

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/internal/background"
)

// madePause is the pause between two questions whether a snapshot is made. Linking takes less
// than a second; the files are read once for their checksums, some 500 MB a second.
const madePause = 100 * time.Millisecond

// toldPause is how often progress is told.
const toldPause = time.Second

// TakerConfig is what a Taker needs. All fields are required but Logger.
type TakerConfig struct {
	NATS   *nats.Conn
	Prefix string
	// Terms are those of this program.
	Terms Terms
	// Folder is for the files. What is in it after a crash is used by the next try.
	Folder string
	// First is the first fact that the log still holds.
	First func(ctx context.Context) (uint64, error)
	// Ahead are the other nodes whose records have all facts before first, the best one first.
	Ahead func(ctx context.Context, first uint64) ([]string, error)
	// Free is how many bytes the disk has left.
	Free func() (int64, error)
	// Link makes a table beside the live ones, of the files in the folder.
	Link func(ctx context.Context, t engine.FrozenTable, folder string) error
	// Adopt checks the tables of Link and puts them in the place of the live ones.
	Adopt func(ctx context.Context) error
	// Drop removes what Link has made, also of a process that was killed. After Adopt that is
	// what was there before.
	Drop   func(ctx context.Context) error
	Logger *slog.Logger
}

// Taker takes the tables of another node. One goroutine at a time may call Take.
type Taker struct {
	cfg   TakerConfig
	doing atomic.Pointer[string]
}

// NewTaker takes nothing yet.
func NewTaker(cfg TakerConfig) (*Taker, error) {
	if cfg.NATS == nil || cfg.Folder == "" || cfg.First == nil || cfg.Ahead == nil || cfg.Free == nil || cfg.Link == nil || cfg.Adopt == nil || cfg.Drop == nil {
		return nil, errors.New("records: NATS, Folder, First, Ahead, Free, Link, Adopt and Drop are required")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	return &Taker{cfg: cfg}, nil
}

// Doing says in words what is being taken, "" for nothing.
func (t *Taker) Doing() string {
	if doing := t.doing.Load(); doing != nil {
		return *doing
	}
	return ""
}

// Take puts the tables of another node in the place of those of this one. Until then these are
// as they were; after an error, or a crash at any moment, the next call begins again with the
// files that are there.
func (t *Taker) Take(ctx context.Context) error {
	defer t.doing.Store(nil)
	first, err := t.cfg.First(ctx)
	if err != nil {
		return err
	}
	peers, err := t.cfg.Ahead(ctx, first)
	if err != nil {
		return err
	}
	if len(peers) == 0 {
		return fmt.Errorf("no other node that is there has records of all facts before %d, with which the log begins", first)
	}
	var failed []error
	for _, peer := range peers {
		err := t.from(ctx, peer, first)
		if err == nil || ctx.Err() != nil {
			return cmp.Or(ctx.Err(), err)
		}
		failed = append(failed, fmt.Errorf("take the records of node %s: %w", peer, err))
	}
	return errors.Join(failed...)
}

// Clean removes what a process has left that was killed after it had taken tables. It is called
// when the records of this node are whole.
func (t *Taker) Clean(ctx context.Context) error {
	return errors.Join(t.cfg.Drop(ctx), os.RemoveAll(t.cfg.Folder))
}

// from takes the tables of one node.
func (t *Taker) from(ctx context.Context, peer string, first uint64) error {
	began := time.Now()
	f := &fetch{conn: t.cfg.NATS, subject: subject(t.cfg.Prefix, peer), folder: t.cfg.Folder}
	f.tell = func(done, of int64) {
		doing := fmt.Sprintf("takes the records of node %s: %d of %d MB", peer, done/1e6, of/1e6)
		t.doing.Store(&doing)
	}
	s, err := f.open(ctx, request{Op: opOpen, Terms: t.cfg.Terms, First: first})
	if err != nil {
		return err
	}
	if err := s.check(t.cfg.Terms, first); err != nil {
		return err
	}
	kept, err := f.tidy(s)
	if err != nil {
		return fmt.Errorf("tidy the files of an earlier try: %w", err)
	}
	if free, err := t.cfg.Free(); err == nil && free < s.Bytes-kept {
		return fmt.Errorf("its tables have %d MB, of which %d are here already, and the disk has %d MB left", s.Bytes/1e6, kept/1e6, free/1e6)
	}
	t.cfg.Logger.Info("takes the records of another node", "node", peer, "position", s.Position, "files", len(s.Files), "bytes", s.Bytes, "have", kept)
	if err := f.all(ctx, s); err != nil {
		return err
	}
	fetched := time.Since(began)
	if err := t.use(ctx, s); err != nil {
		return err
	}
	t.cfg.Logger.Warn("has taken the records of another node; what came since is folded from the log",
		"node", peer, "position", s.Position, "bytes", s.Bytes, "asked_for", f.asked.Load(), "fetched_in", fetched.Round(time.Millisecond), "took", time.Since(began).Round(time.Millisecond))
	return nil
}

// use makes tables of the files and puts them in the place of those of this node.
func (t *Taker) use(ctx context.Context, s Snapshot) error {
	if err := t.cfg.Drop(ctx); err != nil {
		return err
	}
	for _, table := range s.Tables {
		if err := t.cfg.Link(ctx, table, filepath.Join(t.cfg.Folder, table.Name)); err != nil {
			return err
		}
	}
	if err := t.cfg.Adopt(ctx); err != nil {
		return err
	}
	if err := t.Clean(ctx); err != nil {
		t.cfg.Logger.Warn("what was needed to take records is removed when they have caught up", "error", err)
	}
	return nil
}

// open asks until the peer has made its snapshot, and returns the manifest.
func (f *fetch) open(ctx context.Context, r request) (s Snapshot, err error) {
	var o opened
	for o.Snapshot == "" {
		data, err := ask(ctx, f.conn, f.subject, r) // once: a node that was just heard answers
		if err != nil {
			return s, err
		}
		if err := json.Unmarshal(data, &o); err != nil {
			return s, fmt.Errorf("read its answer: %w", err)
		}
		if o.Snapshot == "" && !background.Wait(ctx, madePause) {
			return s, ctx.Err()
		}
	}
	f.snapshot = o.Snapshot
	var manifest []byte
	for at := int64(0); at < o.Size; at = int64(len(manifest)) {
		data, err := f.piece(ctx, 0, at, o.Size)
		if err != nil {
			return s, fmt.Errorf("read its manifest: %w", err)
		}
		manifest = append(manifest, data...)
	}
	if sumOf(manifest) != o.SHA256 {
		return s, errors.New("its manifest arrives damaged")
	}
	if err := json.Unmarshal(manifest, &s); err != nil {
		return s, fmt.Errorf("read its manifest: %w", err)
	}
	return s, nil
}
