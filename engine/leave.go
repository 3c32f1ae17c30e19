package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Leaving takes servers out of a cluster for good.
type Leaving struct {
	NATS *NATS
	// Spool is the stream that stands on the node alone.
	Spool func(node string) string
}

// MayLeave says why the streams need the node: one of them would be left without
// a majority of its other nodes.
func (l Leaving) MayLeave(ctx context.Context, node string) error {
	alone := []string{l.Spool(node)}
	for _, peer := range l.NATS.cfg.Cluster.Peers {
		alone = append(alone, l.Spool(peer))
	}
	listing, cancel := context.WithTimeout(ctx, quorumAsk)
	defer cancel()
	names := l.NATS.js.StreamNames(listing)
	for name := range names.Name() {
		if slices.Contains(alone, name) {
			continue
		}
		if err := l.NATS.mayMove(ctx, node, name); err != nil {
			return err
		}
	}
	if err := names.Err(); err != nil {
		return fmt.Errorf("engine: list the streams: %w", err)
	}
	return nil
}

// Waiting is how many messages wait in the spool of a node that is there.
func (l Leaving) Waiting(ctx context.Context, node string) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, quorumAsk)
	defer cancel()
	spool, err := l.NATS.js.Stream(ctx, l.Spool(node))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("engine: ask what waits on the node %s: %w", node, err)
	}
	return spool.CachedInfo().State.Msgs, nil
}

// mayMove says why the stream needs the node.
func (n *NATS) mayMove(ctx context.Context, node, name string) error {
	ctx, cancel := context.WithTimeout(ctx, quorumAsk)
	defer cancel()
	stream, err := n.js.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the stream %s has no leader (%w); start the nodes that are away, since only they may have its last messages", name, err)
	}
	info := stream.CachedInfo()
	if info.Cluster == nil {
		return nil
	}
	whole, others := 0, 0 // of the other nodes
	stands := info.Cluster.Leader == node
	if !stands {
		whole, others = 1, 1
	}
	for _, replica := range info.Cluster.Replicas {
		if replica.Name == node {
			stands = true
			continue
		}
		others++
		if replica.Current && !replica.Offline {
			whole++
		}
	}
	if stands && whole <= others/2 {
		return fmt.Errorf("of the other nodes of the stream %s %d of %d have all of it; wait until more have, or start those that are away", name, whole, others)
	}
	return nil
}

// Counts says whether JetStream counts the node as one of the cluster, and whether that node is
// there.
func (l Leaving) Counts(ctx context.Context, node string) (counts, there bool, err error) {
	conn, err := l.NATS.dialSystem()
	if err != nil {
		return false, false, err
	}
	defer conn.Close()
	meta, err := counted(ctx, conn)
	if err != nil {
		return false, false, err
	}
	if meta.Leader == node {
		return true, true, nil
	}
	for _, peer := range meta.Replicas {
		if peer.Name == node {
			return true, !peer.Offline, nil
		}
	}
	return false, false, nil
}

// errNotCounted says why the other servers may not count this node.
var errNotCounted = errors.New("the other nodes do not count it; one that left the cluster is one of it again five minutes after it left, or at once under another address")

// AwaitCounted waits until the other servers of the cluster count this node. They count a new one
// a moment after they hear from it, and one that they have taken out after five minutes. Until then
// it can read their streams, and gets none of its own.
func (n *NATS) AwaitCounted(ctx context.Context) error {
	err := n.waitFor(ctx, func(ctx context.Context) error {
		counts, _, err := Leaving{NATS: n}.Counts(ctx, n.cfg.self)
		if err == nil && !counts {
			err = errNotCounted
		}
		return err
	}, func(err error) {
		n.cfg.Logger.Warn("the start of this node waits until the others count it", "node", n.cfg.self, "error", err)
	})
	if err != nil {
		return fmt.Errorf("engine: wait until the other nodes count %s: %w", n.cfg.self, err)
	}
	return nil
}

// counted is whom the leader of the servers counts.
func counted(ctx context.Context, conn *nats.Conn) (*server.MetaClusterInfo, error) {
	var answer struct {
		Data server.JSInfo `json:"data"`
	}
	if err := request(ctx, conn, "$SYS.REQ.SERVER.PING.JSZ", server.JSzOptions{LeaderOnly: true}, &answer); err != nil {
		return nil, fmt.Errorf("engine: ask which nodes JetStream counts: %w", err)
	}
	if meta := answer.Data.Meta; meta != nil && meta.Leader != "" {
		return meta, nil
	}
	return nil, errors.New("engine: ask which nodes JetStream counts: it has no leader")
}

// Leads says whether the server of this node leads those of the cluster.
func (l Leaving) Leads() bool {
	l.NATS.mu.Lock()
	defer l.NATS.mu.Unlock()
	return l.NATS.embedded != nil && l.NATS.embedded.JetStreamIsLeader()
}

// Out says whether the others have taken this node out, and its server has closed its streams. A
// server that has not heard of it still reads the streams of the others.
func (l Leaving) Out(ctx context.Context) bool { return l.NATS.isOut(ctx) }

// isOut asks the others: a server also closes its streams when its disk is full.
func (n *NATS) isOut(ctx context.Context) bool {
	n.mu.Lock()
	closed := n.cfg.Cluster.On() && n.embedded != nil && n.embedded.Running() && !n.embedded.JetStreamEnabled()
	n.mu.Unlock()
	if !closed {
		return false
	}
	counts, _, err := Leaving{NATS: n}.Counts(ctx, n.cfg.self)
	return err == nil && !counts
}

// errLeads says that the node led the other servers until now.
var errLeads = errors.New("engine: the node leads the servers of the cluster, and is removed once another one does")

// codeNoMember is JetStream's code for a server that it does not count.
const codeNoMember = 10044

// Remove makes JetStream forget the node: it counts for no majority any more, and streams that
// stood there get another node if there is one. It is no error when JetStream does not know it.
func (l Leaving) Remove(ctx context.Context, node string) error {
	conn, err := l.NATS.dialSystem()
	if err != nil {
		return err
	}
	defer conn.Close()
	meta, err := counted(ctx, conn)
	if err != nil {
		return err
	}
	if meta.Leader == node { // one that removes itself gives its streams to nobody
		var answer server.JSApiLeaderStepDownResponse
		err := request(ctx, conn, server.JSApiLeaderStepDown, struct{}{}, &answer)
		return errors.Join(errLeads, err)
	}
	// Nobody would remove it later: it stands on no node that counts.
	if err := l.NATS.drop(ctx, l.Spool(node)); err != nil {
		return err
	}
	var answer server.JSApiMetaServerRemoveResponse
	if err := request(ctx, conn, server.JSApiRemoveServer, server.JSApiMetaServerRemoveRequest{Server: node}, &answer); err != nil {
		return fmt.Errorf("engine: take the node %s out of the cluster: %w", node, err)
	}
	if e := answer.Error; e != nil && e.ErrCode != codeNoMember {
		return fmt.Errorf("engine: take the node %s out of the cluster: %w", node, e)
	}
	return nil
}

// dialSystem connects to the account of the server itself.
func (n *NATS) dialSystem() (*nats.Conn, error) {
	conn, err := nats.Connect("", nats.Name("errata"), nats.InProcessServer(n), nats.UserInfo(systemUser, n.cfg.password), nats.NoReconnect())
	if err != nil {
		return nil, fmt.Errorf("engine: connect to the server of this node: %w", err)
	}
	return conn, nil
}

// request sends a question in JSON and reads the answer.
func request(ctx context.Context, conn *nats.Conn, subject string, question, answer any) error {
	text, err := json.Marshal(question)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, quorumAsk)
	defer cancel()
	msg, err := conn.RequestWithContext(ctx, subject, text)
	if err != nil {
		return err
	}
	return json.Unmarshal(msg.Data, answer)
}
