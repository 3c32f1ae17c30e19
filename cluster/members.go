package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/internal/background"
)

// Config says who the nodes are and what this one says. All fields are required but Logger
// and Now.
type Config struct {
	NATS *nats.Conn
	// Prefix begins every subject of this service.
	Prefix string
	// Self is this node, one of Peers.
	Self  string
	Peers []string
	// Leader is the node that leads the log.
	Leader func(ctx context.Context) (string, error)
	// About is what this node says, without its name. It must not wait for anything.
	About func() Member
	// Bucket says who has left the cluster, and Servers carry that out.
	Bucket  jetstream.KeyValue
	Servers Servers
	// Note notes for the audit trail, once for an id, that the actor of ctx has taken a node out.
	Note   func(ctx context.Context, id string, body any) error
	Now    func() time.Time
	Logger *slog.Logger
}

// Members knows how far each node is. A nil *Members is that of a service of its own: it has
// no other nodes.
type Members struct {
	cfg   Config
	began time.Time
	work  background.Runner
	end   func() error
	out   chan struct{} // closed by leave
	leave func()
	// stopping are nodes that have left and run, since when. Only carryOut uses it.
	stopping map[string]time.Time

	mu    sync.Mutex
	heard map[string]heard
	gone  map[string]bool      // nodes of which the log says that they are away
	left  map[string]Departure // of nodes that have left the cluster for good
	news  chan struct{}        // closed and made anew whenever a node says something
}

// Open begins to listen to the other nodes. Stop ends it.
func Open(cfg Config) (*Members, error) {
	if cfg.NATS == nil || cfg.Self == "" || len(cfg.Peers) == 0 || cfg.Leader == nil || cfg.About == nil || cfg.Bucket == nil || cfg.Servers == nil || cfg.Note == nil {
		return nil, errors.New("cluster: NATS, Self, Peers, Leader, About, Bucket, Servers and Note are required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	m := &Members{
		cfg: cfg, began: cfg.Now(), out: make(chan struct{}), stopping: map[string]time.Time{},
		heard: map[string]heard{}, gone: map[string]bool{}, left: map[string]Departure{}, news: make(chan struct{}),
	}
	m.leave = sync.OnceFunc(func() { close(m.out) })
	sub, err := cfg.NATS.Subscribe(m.subject(), func(msg *nats.Msg) {
		var said Member
		if json.Unmarshal(msg.Data, &said) == nil { // else it is not from Errata
			m.listen(said)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("cluster: listen to the other nodes: %w", err)
	}
	m.end = sub.Unsubscribe
	return m, nil
}

// Start begins to say how far this node is.
func (m *Members) Start() {
	if m == nil {
		return
	}
	m.mu.Lock()
	m.began = m.cfg.Now()
	m.mu.Unlock()
	m.work.Start(
		background.Loop{Do: m.say, Every: sayPause, Failed: func(err error, _ int) {
			m.cfg.Logger.Debug("the other nodes do not hear this one", "error", err)
		}}.Run,
		background.Loop{Do: m.follow, Every: sayPause, Failed: func(err error, _ int) {
			m.cfg.Logger.Debug("it is not known who leaves the cluster", "error", err)
		}}.Run,
		background.Loop{Do: m.carryOut, Every: sayPause, Failed: background.Tell(m.cfg.Logger.Warn, "a node that left the cluster still counts; it is tried again")}.Run,
	)
}

// Stop ends saying, listening and carrying out.
func (m *Members) Stop() {
	_ = m.work.Stop(context.Background()) // the error is that of the context, which does not end
	_ = m.end()                           // the connection may be closed
}

func (m *Members) subject() string { return m.cfg.Prefix + "node" }

func (m *Members) say(context.Context) error {
	m.tell()
	about := m.cfg.About()
	about.Node = m.cfg.Self
	data, err := json.Marshal(about)
	if err != nil {
		return fmt.Errorf("encode what this node says: %w", err)
	}
	return m.cfg.NATS.Publish(m.subject(), data)
}

// tell says once that a node is away, and that it is back.
func (m *Members) tell() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, peer := range m.peers() {
		switch away := m.silence(peer) > silent; {
		case peer == m.cfg.Self:
		case away && !m.gone[peer]:
			m.cfg.Logger.Warn("a node of the cluster is away", "node", peer)
			m.gone[peer] = true
		case !away && m.gone[peer]:
			m.cfg.Logger.Info("a node of the cluster is back", "node", peer)
			delete(m.gone, peer)
		}
	}
}

func (m *Members) listen(said Member) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.heard[said.Node] = heard{said, m.cfg.Now()}
	m.wake()
}

// MayPurge says whether this node may purge the log: it leads the log, and every other node
// is there, or was away for so long that nobody waits for it. With urgent the log is nearly
// full, and nobody waits for a node that is away. Without other nodes it may.
func (m *Members) MayPurge(ctx context.Context, urgent bool) (bool, error) {
	if m == nil {
		return true, nil
	}
	leader, err := m.cfg.Leader(ctx)
	if err != nil || leader != m.cfg.Self {
		return false, err
	}
	if away := m.away(); len(away) > 0 && !urgent {
		return false, fmt.Errorf("%s cannot be reached, and needs what would be purged; the log is purged without it after %v, or when it is nearly full", strings.Join(away, ", "), patience)
	}
	return true, nil
}

// away are the other nodes that are away and are waited for.
func (m *Members) away() (nodes []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, peer := range m.peers() {
		if since := m.silence(peer); peer != m.cfg.Self && since > silent && since < patience {
			nodes = append(nodes, peer)
		}
	}
	return nodes
}

// silence is for how long the node has said nothing. The caller holds mu.
func (m *Members) silence(node string) time.Duration {
	last, ok := m.heard[node]
	if !ok {
		last.at = m.began
	}
	return m.cfg.Now().Sub(last.at)
}

// Folded waits until the records of every node that is there have the fact.
func (m *Members) Folded(ctx context.Context, sequence uint64) error {
	if m == nil {
		return nil
	}
	for {
		behind, news := m.behind(sequence)
		if behind == "" {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return fmt.Errorf("the records of %s have not come to fact %d: %w", behind, sequence, ctx.Err())
		}
	}
}

// behind is a node that is there and has not folded the fact, "" for none.
func (m *Members) behind(sequence uint64) (node string, news <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, peer := range m.peers() {
		if peer != m.cfg.Self && m.silence(peer) <= silent && m.heard[peer].Folded < sequence {
			return peer, m.news
		}
	}
	return "", m.news
}

// Lowest is the least of what the nodes have in their tables, by of, 0 while that of a node
// that is waited for is not known. With urgent nobody waits for a node that is away. own is
// what this node has.
func (m *Members) Lowest(own uint64, urgent bool, of func(Position) uint64) uint64 {
	if m == nil {
		return own
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, peer := range m.peers() {
		if peer == m.cfg.Self {
			continue
		}
		if since := m.silence(peer); since > patience || urgent && since > silent {
			continue
		}
		own = min(own, of(m.heard[peer].Position))
	}
	return own
}

// Ahead are the other nodes whose records have all facts before first, the furthest ahead first.
// It waits a moment for nodes that were not heard yet, and until all nodes may have heard what
// this one has said last.
func (m *Members) Ahead(ctx context.Context, first uint64) (nodes []string, err error) {
	if m == nil {
		return nil, nil
	}
	if !background.Wait(ctx, heardBy) {
		return nil, ctx.Err()
	}
	for {
		nodes, unheard, news := m.ahead(first)
		if !unheard {
			return nodes, nil
		}
		select {
		case <-news:
		case <-time.After(sayPause): // a node that is away says nothing
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// ahead also says whether a node was not heard yet that may only be late.
func (m *Members) ahead(first uint64) (nodes []string, unheard bool, news <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, peer := range m.peers() {
		said, known := m.heard[peer]
		switch {
		case peer == m.cfg.Self:
		case m.silence(peer) > silent:
		case !known:
			unheard = true
		case said.Folded+1 >= first:
			nodes = append(nodes, peer)
		}
	}
	slices.SortStableFunc(nodes, func(a, b string) int { return cmp.Compare(m.heard[b].Folded, m.heard[a].Folded) })
	return nodes, unheard, m.news
}
