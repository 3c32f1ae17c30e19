package cluster

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/bucket"
)

const (
	// leftKey begins the key of a node that has left. What follows is its name in hex, as a key
	// has no colon.
	leftKey = "left."
	// watchTimeout bounds the beginning of the watch of who has left.
	watchTimeout = 5 * time.Second
)

// Departure says that a node has left for good. It is a value of the bucket.
type Departure struct {
	Node    string         `json:"node"`
	At      errata.Instant `json:"at"`
	Running bool           `json:"running"`
	// By is who has taken it out, Noted that the audit trail says so.
	By    errata.Actor `json:"by"`
	Noted bool         `json:"noted,omitempty"`

	revision uint64 // of the value
}

// note is what the audit trail says of a departure, besides who and when.
type note struct {
	Version int    `json:"v"`
	Node    string `json:"node"`
	Running bool   `json:"running"`
}

// noteID is the same for each try to note the departure.
func (d *Departure) noteID() string {
	return fmt.Sprintf("%x.%d", d.Node, time.Time(d.At).UnixMilli())
}

func keyOf(node string) string { return leftKey + hex.EncodeToString([]byte(node)) }

// decide tells all nodes that one leaves.
func (m *Members) decide(ctx context.Context, d Departure) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	d.revision, err = m.cfg.Bucket.Create(ctx, keyOf(d.Node), text)
	if errors.Is(err, jetstream.ErrKeyExists) {
		return nil // it was decided meanwhile
	}
	if err != nil {
		return errata.Errorf(errata.KindLogUnavailable, "The other nodes could not be told; nothing has changed, or the node leaves soon: ask again.").Because(err)
	}
	m.depart(d)
	return nil
}

// follow reads from the bucket which nodes have left, until ctx ends or the watch of the bucket
// ends.
func (m *Members) follow(ctx context.Context) error {
	if m.cfg.Servers.Out(ctx) { // the bucket cannot be read here any more
		m.depart(Departure{Node: m.cfg.Self})
	}
	ctx, cancel := context.WithCancel(ctx)
	limit := time.AfterFunc(watchTimeout, cancel) // a lost answer would be waited for without end
	defer limit.Stop()
	w, err := m.cfg.Bucket.Watch(ctx, leftKey+"*")
	if err != nil {
		cancel()
		return fmt.Errorf("read who has left the cluster: %w", err)
	}
	defer bucket.EndWatch(w, cancel)
	for {
		entry, err := bucket.NextEntry(ctx, w)
		if err != nil {
			return fmt.Errorf("read who has left the cluster: %w", err)
		}
		if entry == nil { // all that was there has come
			limit.Stop()
			continue
		}
		m.read(entry)
	}
}

// read reads from the bucket that a node has left, or comes again.
func (m *Members) read(entry jetstream.KeyValueEntry) {
	node, err := hex.DecodeString(strings.TrimPrefix(entry.Key(), leftKey))
	var d Departure
	if err == nil && entry.Operation() == jetstream.KeyValuePut {
		err = json.Unmarshal(entry.Value(), &d)
	}
	switch {
	case err != nil:
		m.cfg.Logger.Warn("a node that has left the cluster cannot be read", "key", entry.Key(), "error", err)
	case entry.Operation() == jetstream.KeyValuePut:
		d.Node, d.revision = string(node), entry.Revision()
		m.depart(d)
	default:
		m.comeAgain(string(node))
	}
}

// depart notes that a node has left.
func (m *Members) depart(d Departure) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, known := m.left[d.Node]
	m.left[d.Node] = d
	if known {
		return
	}
	m.cfg.Logger.Warn("a node has left the cluster for good", "node", d.Node)
	if d.Node == m.cfg.Self {
		m.leave()
	}
	m.wake()
}

// comeAgain notes that a node that had left is one of the cluster again.
func (m *Members) comeAgain(node string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.left[node]; !known {
		return
	}
	delete(m.left, node)
	m.cfg.Logger.Info("a node that had left the cluster comes again", "node", node)
	m.wake()
}

// wake wakes those who wait for news. The caller holds mu.
func (m *Members) wake() {
	close(m.news)
	m.news = make(chan struct{})
}

// note notes a departure once. The bucket says that it is done, as the note itself goes with a
// purge of the log.
func (m *Members) note(ctx context.Context, d Departure) error {
	if d.Noted {
		return nil
	}
	if err := m.cfg.Note(errata.WithActor(ctx, d.By), d.noteID(), note{Version: 1, Node: d.Node, Running: d.Running}); err != nil {
		return err
	}
	d.Noted = true
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	if d.revision, err = m.cfg.Bucket.Update(ctx, keyOf(d.Node), text, d.revision); err != nil { // the node may come again meanwhile
		return fmt.Errorf("note that the audit trail knows that %s has left: %w", d.Node, err)
	}
	m.depart(d)
	return nil
}
