package records

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/internal/background"
)

const (
	// heldFor is how long a snapshot is kept after the last question about it: longer than a
	// restart of the asking node. Its links keep parts on the disk that were merged meanwhile.
	heldFor = 2 * time.Minute
	// letGoPause is the pause between two looks whether it is over.
	letGoPause = 5 * time.Second
)

// GiverConfig is what a Giver needs. All fields are required but Now and Logger.
type GiverConfig struct {
	NATS *nats.Conn
	// Prefix begins every subject of this service, Self is this node.
	Prefix, Self string
	// Terms are those of the tables.
	Terms Terms
	// Ready says why the tables should not be used, nil when they are whole.
	Ready func() error
	// Freeze links the parts of the tables as they are at one fact, until Thaw.
	Freeze func(ctx context.Context) (position uint64, tables []engine.FrozenTable, err error)
	Thaw   func() error
	Now    func() time.Time
	Logger *slog.Logger
}

// Giver gives the tables of this node to others that ask for them: one snapshot at a time,
// which several may take.
type Giver struct {
	cfg    GiverConfig
	end    func() error
	orders chan *held // capacity 1, as there is one snapshot
	work   background.Runner

	mu   sync.Mutex
	held *held // nil for none
}

// held is a snapshot. The Giver's mu guards its fields; those above asked do not change after
// ready.
type held struct {
	id       string
	position uint64
	manifest []byte
	files    []string // their paths on this machine, in the order of the manifest
	sizes    []int64
	asked    time.Time
	ready    bool
	failed   error
}

// StartGiver begins to answer.
func StartGiver(cfg GiverConfig) (*Giver, error) {
	if cfg.NATS == nil || cfg.Self == "" || cfg.Ready == nil || cfg.Freeze == nil || cfg.Thaw == nil {
		return nil, errors.New("records: NATS, Self, Ready, Freeze and Thaw are required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if err := cfg.Thaw(); err != nil { // of a service that was killed
		return nil, err
	}
	g := &Giver{cfg: cfg, orders: make(chan *held, 1)}
	sub, err := cfg.NATS.Subscribe(subject(cfg.Prefix, cfg.Self), g.answer)
	if err != nil {
		return nil, fmt.Errorf("records: listen to nodes that need tables: %w", err)
	}
	g.end = sub.Unsubscribe
	g.work.Start(g.make, background.Loop{
		Do: g.letGo, Every: letGoPause, Failed: background.Tell(cfg.Logger.Warn, "the links of a snapshot for another node are still there"),
	}.Run)
	return g, nil
}

// Stop ends answering, and lets the snapshot go. The error is that of ctx, or of the links.
func (g *Giver) Stop(ctx context.Context) error {
	_ = g.end() // the connection may be closed
	if err := g.work.Stop(ctx); err != nil {
		return err
	}
	return g.cfg.Thaw()
}

// letGo forgets a snapshot that nobody has asked for.
func (g *Giver) letGo(context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held == nil || !g.held.ready || g.cfg.Now().Sub(g.held.asked) < heldFor {
		return nil
	}
	if err := g.cfg.Thaw(); err != nil {
		return err
	}
	g.held = nil
	g.cfg.Logger.Info("the snapshot for another node is gone, because nobody asks for it any more")
	return nil
}

// answer answers one request. NATS calls it for one after the other.
func (g *Giver) answer(msg *nats.Msg) {
	var r request
	data, err := []byte(nil), json.Unmarshal(msg.Data, &r)
	switch {
	case err != nil:
	case r.Op == opOpen:
		data, err = g.open(r)
	case r.Op == opPiece:
		data, err = g.piece(r)
	default:
		err = fmt.Errorf("this version does not know %q", r.Op)
	}
	if err != nil {
		err = refuse(msg, err)
	} else {
		err = msg.Respond(data)
	}
	if err != nil {
		g.cfg.Logger.Debug("a node that asks for tables got no answer", "error", err)
	}
}

// open finds the snapshot or orders a new one.
func (g *Giver) open(r request) ([]byte, error) {
	if err := g.cfg.Terms.fit(r.Terms); err != nil {
		return nil, err
	}
	if err := g.cfg.Ready(); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.held
	switch {
	case h == nil:
		g.held = &held{id: rand.Text(), asked: g.cfg.Now()}
		g.orders <- g.held // there is room: make has taken the one before
		return json.Marshal(opened{})
	case h.failed != nil:
		g.held = nil
		return nil, h.failed
	case !h.ready:
		return json.Marshal(opened{})
	case h.position+1 < r.First:
		return nil, fmt.Errorf("its snapshot ends at fact %d, and the log begins at %d; it makes another one %v after the last question for this one", h.position, r.First, heldFor)
	}
	h.asked = g.cfg.Now()
	return json.Marshal(opened{Snapshot: h.id, Size: int64(len(h.manifest)), SHA256: sumOf(h.manifest)})
}

// piece reads a piece of a file.
func (g *Giver) piece(r request) ([]byte, error) {
	g.mu.Lock()
	h := g.held
	if h == nil || !h.ready || h.id != r.Snapshot {
		g.mu.Unlock()
		return nil, errors.New("it does not have this snapshot any more")
	}
	h.asked = g.cfg.Now()
	g.mu.Unlock()
	if r.File == 0 {
		if r.At < 0 || r.At >= int64(len(h.manifest)) {
			return nil, errors.New("the manifest ends before that")
		}
		return h.manifest[r.At:min(r.At+pieceBytes, int64(len(h.manifest)))], nil
	}
	if r.File < 0 || r.File > len(h.files) || r.At < 0 || r.At >= h.sizes[r.File-1] {
		return nil, errors.New("there is no such piece")
	}
	in, err := os.Open(h.files[r.File-1])
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data := make([]byte, min(pieceBytes, h.sizes[r.File-1]-r.At))
	if _, err := in.ReadAt(data, r.At); err != nil {
		return nil, err
	}
	return data, nil
}

// make makes the snapshots that are ordered, until ctx ends.
func (g *Giver) make(ctx context.Context) {
	for {
		select {
		case h := <-g.orders:
			g.fill(ctx, h)
		case <-ctx.Done():
			return
		}
	}
}

// fill makes one snapshot.
func (g *Giver) fill(ctx context.Context, h *held) {
	began := g.cfg.Now()
	s, paths, err := g.freeze(ctx)
	var manifest []byte
	if err == nil {
		manifest, err = json.Marshal(s)
	}
	if err != nil {
		err = errors.Join(err, g.cfg.Thaw())
		g.cfg.Logger.Error("no snapshot for another node", "error", err)
	} else {
		g.cfg.Logger.Info("another node takes the records of this one", "position", s.Position, "files", len(s.Files), "bytes", s.Bytes, "took", g.cfg.Now().Sub(began).Round(time.Millisecond))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	h.position, h.manifest, h.files, h.failed = s.Position, manifest, paths, err
	for _, f := range s.Files {
		h.sizes = append(h.sizes, f.Size)
	}
	h.asked, h.ready = g.cfg.Now(), true
}

// freeze links the parts and sums their files.
func (g *Giver) freeze(ctx context.Context) (s Snapshot, paths []string, err error) {
	s.Terms = g.cfg.Terms
	if s.Position, s.Tables, err = g.cfg.Freeze(ctx); err != nil {
		return s, nil, err
	}
	for _, t := range s.Tables {
		for _, p := range t.Parts {
			err := filepath.WalkDir(p.Folder(), func(path string, entry fs.DirEntry, err error) error {
				if err = cmp.Or(err, ctx.Err()); err != nil || entry.IsDir() {
					return err
				}
				inside, err := filepath.Rel(p.Folder(), path)
				if err != nil {
					return err
				}
				f := File{Path: filepath.Join(t.Name, p.Name, inside)}
				if f.Size, err = sizeOf(path); err == nil {
					f.SHA256, err = datadir.SumFile(path)
				}
				s.Files, s.Bytes, paths = append(s.Files, f), s.Bytes+f.Size, append(paths, path)
				return err
			})
			if err != nil {
				return s, nil, fmt.Errorf("sum the files of the part %s of %s: %w", p.Name, t.Name, err)
			}
		}
	}
	return s, paths, nil
}

func sizeOf(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
