package cluster_test

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/cluster"
	"github.com/errata-log/errata/internal/background"
)

// servers are those of a test.
type servers struct {
	mu      sync.Mutex
	count   []string // the nodes that they count
	there   []string // those of them that run
	needs   string   // a node that what they store needs
	waiting uint64
	leader  string // whose server leads the others
	out     bool
	removed chan string
}

func newServers() *servers {
	return &servers{count: slices.Clone(nodes), removed: make(chan string, len(nodes))}
}

func (s *servers) MayLeave(_ context.Context, node string) error {
	if node == s.needs {
		return errors.New("of the other nodes of the stream LOG 1 of 2 have all of it")
	}
	return nil
}

func (s *servers) Waiting(context.Context, string) (uint64, error) { return s.waiting, nil }

func (s *servers) Counts(_ context.Context, node string) (counts, there bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count == nil {
		return false, false, errors.New("it has no leader")
	}
	return slices.Contains(s.count, node), slices.Contains(s.there, node), nil
}

func (s *servers) Out(context.Context) bool { return s.out }

// serversOf are those of a node.
type serversOf struct {
	*servers
	self string
}

func (s serversOf) Leads() bool { return s.leader == s.self }

func (s *servers) Remove(_ context.Context, node string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count = slices.DeleteFunc(s.count, func(n string) bool { return n == node })
	s.removed <- node
	return nil
}

// folder is that of a node, and what was noted there.
type folder struct {
	isNew bool
	notes []bool
}

func (f *folder) IsNew() (bool, error) { return f.isNew, nil }

func (f *folder) NoteMember(left bool) error {
	f.notes = append(f.notes, left)
	return nil
}

// await polls, as a watch tells nobody that it has told.
func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for !done() {
		if !background.Wait(t.Context(), 20*time.Millisecond) {
			t.Fatal(what)
		}
	}
}

// hear waits until the node has heard another one.
func hear(t *testing.T, m *cluster.Members, other string) {
	t.Helper()
	await(t, other+" is not heard", func() bool {
		return slices.ContainsFunc(m.Nodes(t.Context()), func(n errata.Node) bool { return n.Name == other && n.Role != "away" })
	})
}

// A node that left is forgotten by all others at once, and the servers forget it too.
func TestANodeLeaves(t *testing.T) {
	w := newWorld(t)
	a, b, c := w.open(t, nodes[0]), w.open(t, nodes[1]), w.open(t, nodes[2])
	w.servers.leader = nodes[0]
	a.Start()
	b.Start()
	hear(t, a, nodes[1])
	hear(t, b, nodes[0])
	left, err := b.Leave(errata.WithActor(t.Context(), errata.Actor{KeyID: "k1", KeyName: "ada"}), nodes[2], false)
	if err != nil || !slices.Equal(left, nodes[:2]) {
		t.Fatalf("left are %v, %v", left, err)
	}
	if node := <-w.servers.removed; node != nodes[2] {
		t.Errorf("removed %s", node)
	}
	c.Start()
	<-c.Left() // the node itself stops
	select {
	case <-a.Left():
		t.Error("another node has left as well")
	default:
	}
	if names := a.Nodes(t.Context()); len(names) != 2 || len(a.Checks(t.Context())) != 3 {
		t.Errorf("the nodes are %+v", names)
	}
	if low := a.Lowest(5, false, func(p cluster.Position) uint64 { return p.Folded + 3 }); low != 3 {
		t.Errorf("the least is %d, want that of b: 3", low)
	}
	if left, err := b.Leave(t.Context(), nodes[2], false); err != nil || len(left) != 2 {
		t.Errorf("a second time: %v, %v", left, err)
	}
	if notes, _ := w.noted(); !slices.Equal(notes, []string{`633a36323232.1000000000000 ada: {"v":1,"node":"c:6222","running":false}`}) {
		t.Errorf("for the audit trail: %v", notes)
	}
	admit := func(what, bucket string, node folder, left bool, notes ...bool) {
		t.Helper()
		got, err := cluster.Admit(t.Context(), w.env.JetStream, bucket, nodes[2], &node)
		if got != left || err != nil || !slices.Equal(node.notes, notes) {
			t.Errorf("%s: left %v, %v, noted %v; want %v, %v", what, got, err, node.notes, left, notes)
		}
	}
	admit("its old folder", w.bucket.Bucket(), folder{}, true, true)
	admit("a new folder", w.bucket.Bucket(), folder{isNew: true}, false, false)
	admit("the folder of a member", w.bucket.Bucket(), folder{}, false)
	admit("a founder", w.env.Namespace+"none", folder{isNew: true}, false, false)
	await(t, "it comes again", func() bool { return len(a.Peers()) == 3 })
}

// The audit trail knows of a departure before it is carried out, and is told only once.
func TestADepartureIsNotedFirst(t *testing.T) {
	w := newWorld(t)
	a, b := w.open(t, nodes[0]), w.open(t, nodes[1])
	w.servers.leader, w.refuse = nodes[0], 2
	a.Start()
	b.Start()
	hear(t, a, nodes[1])
	if _, err := a.Leave(t.Context(), nodes[2], false); err != nil {
		t.Fatal(err)
	}
	if notes, refuse := w.noted(); len(notes) != 1 || refuse != 0 {
		t.Errorf("it is out with %d notes, and %d more would be refused", len(notes), refuse)
	}
	var entry jetstream.KeyValueEntry
	await(t, "the bucket says that it is noted", func() bool {
		var err error
		entry, err = w.bucket.Get(t.Context(), "left."+hex.EncodeToString([]byte(nodes[2])))
		return err == nil && strings.Contains(string(entry.Value()), `"noted":true`)
	})
	w.servers.mu.Lock()
	w.servers.count = slices.Clone(nodes) // they have heard of it again
	w.servers.mu.Unlock()
	<-w.servers.removed
	<-w.servers.removed
	if notes, _ := w.noted(); len(notes) != 1 {
		t.Errorf("the second time it is noted again: %v", notes)
	}
	if again, err := w.bucket.Get(t.Context(), entry.Key()); err != nil || again.Revision() != entry.Revision() {
		t.Errorf("the bucket was changed: %+v, %v", again, err)
	}
}

// The servers that have forgotten this node say so to it.
func TestANodeThatTheServersForgot(t *testing.T) {
	w := newWorld(t)
	w.servers.out = true
	a := w.open(t, nodes[0])
	a.Start()
	<-a.Left()
}

func TestANodeThatMayNotLeave(t *testing.T) {
	w := newWorld(t)
	a, b := w.open(t, nodes[0]), w.open(t, nodes[1])
	a.Start()
	b.Start()
	hear(t, a, nodes[1])
	refused := func(what, node string, kind errata.Kind, want string) {
		t.Helper()
		_, err := a.Leave(t.Context(), node, false)
		if errata.KindOf(err) != kind || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s with %q", what, err, kind, want)
		}
	}
	refused("no node", "d:6222", errata.KindNotFound, "the nodes are a:6222, b:6222, c:6222")
	refused("the asked one", nodes[0], errata.KindNodeNeeded, "ask another one")
	refused("one of those that are there", nodes[1], errata.KindNodeNeeded, "lose its majority: only 1 of the 2 other nodes")
	w.servers.there = nodes[2:]
	refused("one that runs", nodes[2], errata.KindNodeNeeded, "--running")
	w.servers.there, w.servers.needs = nil, nodes[2]
	refused("one that a stream needs", nodes[2], errata.KindNodeNeeded, "stream LOG")
	w.servers.there, w.servers.needs, w.servers.waiting = nodes[2:], "", 3
	if _, err := a.Leave(t.Context(), nodes[2], true); errata.KindOf(err) != errata.KindNodeNeeded || !strings.Contains(err.Error(), "spool") {
		t.Errorf("one with a spool: %v", err)
	}
	w.servers.count = nil
	refused("without a majority", nodes[2], errata.KindLogUnavailable, "no majority")
	if len(a.Peers()) != 3 {
		t.Errorf("the nodes are %v", a.Peers())
	}
	var none *cluster.Members
	if _, err := none.Leave(t.Context(), nodes[0], false); errata.KindOf(err) != errata.KindNotFound || none.Left() != nil {
		t.Errorf("outside of a cluster: %v", err)
	}
}

// One node alone is no cluster.
func TestTheLastTwoStay(t *testing.T) {
	w := newWorld(t)
	a, b := w.open(t, nodes[0]), w.open(t, nodes[1])
	w.servers.leader = nodes[0]
	a.Start()
	b.Start()
	hear(t, a, nodes[1])
	if _, err := a.Leave(t.Context(), nodes[2], false); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Leave(t.Context(), nodes[1], true); errata.KindOf(err) != errata.KindNodeNeeded || !strings.Contains(err.Error(), "at least 2") {
		t.Errorf("one of two: %v", err)
	}
}

// A node that runs gets time to stop by itself.
func TestANodeThatRunsStopsByItself(t *testing.T) {
	w := newWorld(t)
	a, b := w.open(t, nodes[0]), w.open(t, nodes[1])
	w.servers.leader, w.servers.there = nodes[0], nodes[2:]
	a.Start()
	b.Start()
	hear(t, a, nodes[1])
	done := make(chan error, 1)
	go func() { // ends with the removal
		_, err := a.Leave(t.Context(), nodes[2], true)
		done <- err
	}()
	await(t, "it is told", func() bool { return len(b.Peers()) == 2 })
	select {
	case node := <-w.servers.removed:
		t.Errorf("%s was removed while it stops", node)
	case <-time.After(3 * time.Second): // some rounds
	}
	w.servers.mu.Lock()
	w.servers.there = nil
	w.servers.mu.Unlock()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// members makes the bucket of a test.
func members(t *testing.T, w *world) jetstream.KeyValue {
	t.Helper()
	kv, err := w.env.JetStream.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: w.env.Namespace + "left", Storage: jetstream.MemoryStorage})
	if err != nil {
		t.Fatal(err)
	}
	return kv
}
