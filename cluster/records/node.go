package records

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/projector"
)

// linkTimeout bounds how long the projector waits for the tables to be linked for another node.
const linkTimeout = time.Minute

// NodeConfig is what a Node needs. All fields are required but Now and Logger.
type NodeConfig struct {
	NATS *nats.Conn
	// Prefix begins every subject of this service, Self is this node, Version that of the program.
	Prefix, Self, Version string
	// Engines have the tables, and Projector makes them. External says that ClickHouse is a
	// server whose files nobody here can read or write.
	Engines   *engine.Engines
	Projector *projector.Projector
	External  bool
	// HoldExchanges calls do while nothing is written to the tables beside the records.
	HoldExchanges func(ctx context.Context, do func() error) error
	// History keeps replay and backup from reading the tables while others take their place.
	History interface {
		Acquire(ctx context.Context, n int64) error
		Release(n int64)
	}
	// First is the first fact that the log still holds.
	First func(ctx context.Context) (uint64, error)
	// Ahead are the other nodes whose records have all facts before first, the best one first.
	Ahead  func(ctx context.Context, first uint64) ([]string, error)
	Now    func() time.Time
	Logger *slog.Logger
}

// Node gives the tables of this node to others and takes theirs. A service of its own has a nil
// *Node, which gives nothing.
type Node struct {
	cfg   NodeConfig
	terms Terms
	taken string // the database of tables that are taken
	taker *Taker
}

// NewNode gives and takes nothing yet.
func NewNode(cfg NodeConfig) (*Node, error) {
	schema, err := migrations.Schema()
	if err != nil {
		return nil, err
	}
	e := cfg.Engines
	n := &Node{cfg: cfg, terms: Terms{Schema: schema, Fold: projector.FoldVersion, Version: cfg.Version}, taken: e.Database() + projector.TakenSuffix}
	n.taker, err = NewTaker(TakerConfig{
		NATS: cfg.NATS, Prefix: cfg.Prefix, Terms: n.terms, Folder: e.TakenDir(), First: cfg.First, Ahead: cfg.Ahead, Logger: cfg.Logger,
		Free: func() (int64, error) {
			free, _, err := e.DiskRoom()
			return free, err
		},
		Link: func(ctx context.Context, t engine.FrozenTable, folder string) error {
			return e.LinkTable(ctx, t, n.taken, folder)
		},
		Adopt: n.adopt,
		Drop:  func(ctx context.Context) error { return e.DropBeside(ctx, n.taken) },
	})
	return n, err
}

// Doing says in words what is being taken, "" for nothing.
func (n *Node) Doing() string { return n.taker.Doing() }

// Clean removes what a process has left that was killed after it had taken tables; see
// [Taker.Clean].
func (n *Node) Clean(ctx context.Context) error { return n.taker.Clean(ctx) }

// Take puts the tables of another node in the place of those of this one. Neither replay nor
// backup reads them meanwhile.
func (n *Node) Take(ctx context.Context) error {
	if n.cfg.External {
		return errors.New("the ClickHouse of this node is a server of your own (clickhouse-dsn), whose files it cannot write")
	}
	if err := n.cfg.History.Acquire(ctx, 1); err != nil {
		return err
	}
	defer n.cfg.History.Release(1)
	return n.taker.Take(ctx)
}

// adopt puts the tables that were taken in the place of those of this node.
func (n *Node) adopt(ctx context.Context) (err error) {
	if err := n.cfg.Engines.SyncFiles(ctx); err != nil {
		return err
	}
	made, err := n.cfg.Engines.Beside(n.taken)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, made.Close()) }()
	return n.cfg.HoldExchanges(ctx, func() error {
		_, err := n.cfg.Projector.Adopt(ctx, made)
		return err
	})
}

// Give begins to give the tables of this node to others that need them, while ready is nil, and
// returns what ends it. A node with another ClickHouse gives nothing.
func (n *Node) Give(ready func() error) (end func(context.Context) error, err error) {
	if n == nil || n.cfg.External {
		return func(context.Context) error { return nil }, nil
	}
	giver, err := StartGiver(GiverConfig{
		NATS: n.cfg.NATS, Prefix: n.cfg.Prefix, Self: n.cfg.Self, Terms: n.terms, Ready: ready, Freeze: n.freeze,
		Thaw: func() error { return n.cfg.Engines.Thaw(engine.PeerLinks) }, Now: n.cfg.Now, Logger: n.cfg.Logger,
	})
	if err != nil {
		return nil, err
	}
	return giver.Stop, nil
}

// freeze links the parts of the tables while nothing is folded.
func (n *Node) freeze(ctx context.Context) (position uint64, tables []engine.FrozenTable, err error) {
	err = n.cfg.Projector.Hold(ctx, func(folded uint64) error {
		ctx, cancel := context.WithTimeout(ctx, linkTimeout)
		defer cancel()
		frozen, err := n.cfg.Engines.Freeze(ctx, engine.PeerLinks, n.cfg.Engines.Database())
		for _, t := range frozen {
			if !migrations.IsHistory(t.Name) {
				tables = append(tables, t)
			}
		}
		position = folded
		return err
	})
	return position, tables, err
}
