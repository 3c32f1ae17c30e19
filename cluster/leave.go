package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/background"
)

const (
	// stopPatience is how long the others wait for a node that leaves to stop by itself, which
	// hands over what it leads. Its own stop takes 10 s at most.
	stopPatience = 15 * time.Second
	// leavePatience is how long the caller waits until the servers have forgotten the node.
	leavePatience = 45 * time.Second
	// askPause is the pause between two questions whether they have.
	askPause = 200 * time.Millisecond
	// fewest is how many nodes must be left: one alone is no cluster.
	fewest = 2
)

// Servers are those that replicate the log. They know the nodes by the same names.
type Servers interface {
	// MayLeave says why what they store needs the node.
	MayLeave(ctx context.Context, node string) error
	// Waiting is how many messages wait on the node and nowhere else.
	Waiting(ctx context.Context, node string) (uint64, error)
	// Counts says whether they count the node, and whether it is there.
	Counts(ctx context.Context, node string) (counts, there bool, err error)
	// Leads says whether that of this node leads the others.
	Leads() bool
	// Remove makes them forget the node. It is no error when they do not know it.
	Remove(ctx context.Context, node string) error
	// Out says whether the others have forgotten that of this node.
	Out(ctx context.Context) bool
}

// Folder is the data folder of this node.
type Folder interface {
	// IsNew says whether the node has not been in its cluster yet.
	IsNew() (bool, error)
	// NoteMember notes that it is in it, and with left that it is not any more.
	NoteMember(left bool) error
}

// Admit says whether this node has left its cluster, and notes that in its folder. One with a new
// folder comes again under the name of one that left, and the bucket forgets that. Before the
// cluster is founded there is no bucket.
func Admit(ctx context.Context, js jetstream.JetStream, bucket, self string, folder Folder) (left bool, err error) {
	isNew, err := folder.IsNew()
	if err != nil {
		return false, err
	}
	if left, err = isDeparted(ctx, js, bucket, self); err != nil {
		return false, fmt.Errorf("read whether this node has left the cluster: %w", err)
	}
	switch {
	case left && !isNew:
		return true, folder.NoteMember(true)
	case left:
		kv, err := js.KeyValue(ctx, bucket)
		if err == nil {
			err = kv.Delete(ctx, keyOf(self))
		}
		if err != nil {
			return false, fmt.Errorf("tell the other nodes that this one comes again: %w", err)
		}
	case !isNew:
		return false, nil
	}
	return false, folder.NoteMember(false)
}

// isDeparted says what the bucket says of the node.
func isDeparted(ctx context.Context, js jetstream.JetStream, bucket, node string) (bool, error) {
	kv, err := js.KeyValue(ctx, bucket)
	if err == nil {
		_, err = kv.Get(ctx, keyOf(node))
	}
	if errors.Is(err, jetstream.ErrBucketNotFound) || errors.Is(err, jetstream.ErrKeyNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Leave takes a node out of the cluster for good, and returns the nodes that are left once the
// servers have forgotten it. With running it may be one that runs: it stops by itself. The decision
// is a value of the bucket, which all nodes follow: what a crash interrupts is done later. Kinds:
// not_found, node_is_needed, log_unavailable.
func (m *Members) Leave(ctx context.Context, node string, running bool) (left []string, err error) {
	if m == nil {
		return nil, errata.Errorf(errata.KindNotFound, "This service is one of its own and in no cluster.")
	}
	if !m.hasLeft(node) { // else it is said again, and waits
		if err := m.mayLeave(ctx, node, running); err != nil {
			return nil, err
		}
		if err := m.decide(ctx, Departure{Node: node, At: errata.Instant(m.cfg.Now()), Running: running, By: errata.ActorOf(ctx)}); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, leavePatience)
	defer cancel()
	for {
		counts, _, err := m.cfg.Servers.Counts(ctx, node)
		if err == nil && !counts {
			return m.Peers(), nil
		}
		if !background.Wait(ctx, askPause) {
			return nil, errata.Errorf(errata.KindLogUnavailable, "It is decided that %s leaves, and the servers have not forgotten it yet; they do once a majority of the nodes is there. The same request waits again.", node).Because(err)
		}
	}
}

// mayLeave says why the node may not leave.
func (m *Members) mayLeave(ctx context.Context, node string, running bool) error {
	peers := m.Peers()
	counts, there, err := m.cfg.Servers.Counts(ctx, node)
	if err != nil {
		return errata.Errorf(errata.KindLogUnavailable, "The nodes have no majority, so none can leave; start those that are away.").Because(err)
	}
	rest, here := 0, 0
	for _, peer := range peers {
		if peer != node {
			rest++
			if m.isHere(peer) {
				here++
			}
		}
	}
	stays := func(format string, args ...any) *errata.Error {
		return errata.Errorf(errata.KindNodeNeeded, format, args...)
	}
	switch {
	case !counts && !slices.Contains(peers, node):
		return errata.Errorf(errata.KindNotFound, "There is no node %s; the nodes are %s.", node, strings.Join(peers, ", "))
	case node == m.cfg.Self:
		return stays("%s is the node that you ask, and it stops when it leaves; ask another one.", node)
	case rest < fewest:
		return stays("Without %s there would be %d node, and a cluster has at least %d.", node, rest, fewest)
	case here <= rest/2:
		return stays("Without %s the cluster would lose its majority: only %d of the %d other nodes are there. Start those that are away first.", node, here, rest)
	case (there || m.isHere(node)) && !running:
		return stays("%s runs. Stop it first, or say that it may stop by itself (errata cluster leave --running).", node)
	}
	if err := m.cfg.Servers.MayLeave(ctx, node); err != nil {
		return stays("%s may not leave now: %v.", node, err)
	}
	if !there {
		return nil
	}
	if waiting, err := m.cfg.Servers.Waiting(ctx, node); err != nil || waiting > 0 {
		return stays("Events still wait in the spool of %s; try again in a moment.", node).Because(err)
	}
	return nil
}

// isHere says whether the node was heard, or is this one.
func (m *Members) isHere(node string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, known := m.heard[node]
	return node == m.cfg.Self || known && m.silence(node) <= silent
}

// Peers are the nodes that have not left.
func (m *Members) Peers() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.peers()
}

// peers is Peers. The caller holds mu.
func (m *Members) peers() (nodes []string) {
	for _, peer := range m.cfg.Peers {
		if _, left := m.left[peer]; !left {
			nodes = append(nodes, peer)
		}
	}
	return nodes
}

func (m *Members) hasLeft(node string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, left := m.left[node]
	return left
}

// Left is closed when this node has left the cluster, and must stop. It is nil outside of one.
func (m *Members) Left() <-chan struct{} {
	if m == nil {
		return nil
	}
	return m.out
}

// carryOut notes for the audit trail which nodes have left, and makes the servers forget them. Only
// one of the nodes does it.
func (m *Members) carryOut(ctx context.Context) error {
	m.mu.Lock()
	gone := slices.Collect(maps.Values(m.left))
	m.mu.Unlock()
	maps.DeleteFunc(m.stopping, func(node string, _ time.Time) bool { return !m.hasLeft(node) })
	if len(gone) == 0 || !m.cfg.Servers.Leads() {
		return nil
	}
	for _, d := range gone {
		if err := m.note(ctx, d); err != nil { // whoever asked finds the entry once the node is out
			return err
		}
		counts, there, err := m.cfg.Servers.Counts(ctx, d.Node)
		if err != nil {
			return err
		}
		if !counts || there && m.waitsFor(d.Node) {
			continue
		}
		if err := m.cfg.Servers.Remove(ctx, d.Node); err != nil {
			return err
		}
		m.cfg.Logger.Info("the servers of the cluster have forgotten a node that left", "node", d.Node)
	}
	return nil
}

// waitsFor says whether the node may still stop by itself.
func (m *Members) waitsFor(node string) bool {
	began, known := m.stopping[node]
	if !known {
		began = m.cfg.Now()
		m.stopping[node] = began
	}
	return m.cfg.Now().Sub(began) < stopPatience
}
