package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/logfiles"
)

const (
	// copies is on how many nodes of a cluster each stream stands, whatever the number of
	// nodes: it outlives any one of them, and one more costs each event more.
	copies = 3
	// minSecret is the least length of a cluster's secret, in bytes. Whoever connects to
	// a node sees a certificate that was made from it, and can try secrets.
	minSecret = 32
	// quorumPause is the pause between two tries to reach the leader of a cluster.
	quorumPause = 200 * time.Millisecond
	// quorumTell is how often the log says that the leader is not there yet.
	quorumTell = 10 * time.Second
	// quorumAsk bounds one try.
	quorumAsk = 2 * time.Second
)

// Cluster makes the embedded NATS one of several servers that keep the same log. The zero
// Cluster is for a service of its own.
type Cluster struct {
	// Name is the name of the cluster, the same on all nodes.
	Name string
	// Listen is the address, host:port, at which the other nodes reach this one.
	Listen string
	// Peers are the addresses, host:port, of all nodes, this one among them, and the same
	// list on all of them. The first one founds the cluster.
	Peers []string
	// Secret is known to the nodes and to nobody else.
	Secret string
	// Node is which of Peers this is, "" to find that out: see [Cluster.Self].
	Node string
	// Ack is AckSpool, or AckQuorum to refuse events while the log has no leader.
	Ack string
}

// When a sender gets its 2xx while the log has no leader.
const (
	AckSpool  = "spool"  // once the event is on the disk of this node
	AckQuorum = "quorum" // never
)

// Spools says whether the node keeps events while the log has no leader.
func (c Cluster) Spools() bool { return c.On() && c.Ack != AckQuorum }

// SpoolRoom bounds the spool of a node, in bytes: minutes of events at the highest rate.
const SpoolRoom = 1 << 30

func (c Cluster) spoolRoom() int64 {
	if c.On() {
		return SpoolRoom
	}
	return 0
}

// clusterName is what a cluster may be called.
var clusterName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// On says whether there is a cluster.
func (c Cluster) On() bool { return c.Name != "" }

// Replicas is on how many nodes each stream stands, 0 without a cluster.
func (c Cluster) Replicas() int { return min(copies, len(c.Peers)) }

// Validate names the first setting that cannot be used.
func (c Cluster) Validate() error {
	if !c.On() {
		if c.Listen != "" || len(c.Peers) > 0 || c.Secret != "" || c.Node != "" {
			return errors.New("cluster-name: it is empty, and other settings of a cluster are set; give the cluster a name, or leave all of them empty")
		}
		return nil
	}
	if !clusterName.MatchString(c.Name) {
		return errors.New("cluster-name: want up to 64 letters, digits, - and _")
	}
	if err := datadir.CheckListen(c.Listen, "6222"); err != nil {
		return fmt.Errorf("cluster-listen: %w", err)
	}
	if n := len(c.Peers); n != 3 && n != 5 {
		return fmt.Errorf("cluster-peers: want the addresses of 3 or 5 nodes, this one among them, got %d: one node of three may fail, and two of five", n)
	}
	for i, peer := range c.Peers {
		if host, _, err := net.SplitHostPort(peer); err != nil || host == "" {
			return fmt.Errorf("cluster-peers: %q is not host:port, such as errata-1.example.com:6222", peer)
		}
		if slices.Contains(c.Peers[:i], peer) {
			return fmt.Errorf("cluster-peers: %s is named twice", peer)
		}
	}
	if len(c.Secret) < minSecret {
		return fmt.Errorf("cluster-secret: it has %d characters and must have %d: take what openssl rand -hex 32 prints", len(c.Secret), minSecret)
	}
	if c.Ack != AckSpool && c.Ack != AckQuorum {
		return fmt.Errorf("cluster-ack: %q is neither %s nor %s", c.Ack, AckSpool, AckQuorum)
	}
	if c.Node != "" && !slices.Contains(c.Peers, c.Node) {
		return fmt.Errorf("cluster-node: %s is not one of cluster-peers", c.Node)
	}
	return nil
}

// Self is which of Peers this node is: Node, or the one that is Listen, or where Listen
// has no host the one with its port whose host is an address of this machine.
func (c Cluster) Self(ctx context.Context) (string, error) {
	if c.Node != "" {
		return c.Node, nil
	}
	if slices.Contains(c.Peers, c.Listen) {
		return c.Listen, nil
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return "", fmt.Errorf("engine: read the addresses of this machine: %w", err)
	}
	_, listens, _ := net.SplitHostPort(c.Listen)
	var found []string
	for _, peer := range c.Peers {
		host, port, _ := net.SplitHostPort(peer)
		if port == listens && isOwn(ctx, host, own) {
			found = append(found, peer)
		}
	}
	if len(found) != 1 {
		return "", fmt.Errorf("engine: %d of the addresses in cluster-peers are addresses of this machine with the port of cluster-listen (%s); say with cluster-node which one this node is", len(found), c.Listen)
	}
	return found[0], nil
}

// isOwn says whether the host has one of the addresses. A host that has no address at the
// moment is another one.
func isOwn(ctx context.Context, host string, own []net.Addr) bool {
	found, err := net.DefaultResolver.LookupIP(ctx, "ip", host)
	if err != nil {
		return false
	}
	if slices.ContainsFunc(found, net.IP.IsLoopback) { // as the name of this machine often is
		return true
	}
	return slices.ContainsFunc(own, func(a net.Addr) bool {
		network, ok := a.(*net.IPNet)
		return ok && slices.ContainsFunc(found, network.IP.Equal)
	})
}

// join makes the server one of the cluster. Its name must stay the same: Raft knows it by
// that, also after its folder was lost.
func (c Cluster) join(o *server.Options, self string) (err error) {
	if !c.On() {
		return nil
	}
	o.ServerName, o.Tags = self, []string{nodeTag + self}
	o.Cluster = server.ClusterOpts{
		Name: c.Name, TLSTimeout: quorumAsk.Seconds(), NoAdvertise: true, // each node is told all others
		PingInterval: natsPing, MaxPingsOut: natsPingsUnheard,
	}
	if o.Cluster.TLSConfig, err = routesTLS(c.Secret, self); err != nil {
		return err
	}
	if o.Cluster.Host, o.Cluster.Port, err = listenAt("the other nodes of the cluster", c.Listen); err != nil {
		return err
	}
	// This node is among them, and the server ignores the route to itself: the first
	// election waits for a majority of so many.
	for _, peer := range c.Peers {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats-route", Host: peer})
	}
	return nil
}

// awaitJetStream waits until JetStream answers. In a cluster that takes a majority of the
// nodes, for which a start waits as long as it may.
func (n *NATS) awaitJetStream(ctx context.Context) error {
	if !n.cfg.Cluster.On() {
		_, err := n.js.AccountInfo(ctx)
		return err
	}
	began, logger := time.Now(), n.cfg.Logger.With("cluster", n.cfg.Cluster.Name, "node", n.cfg.self)
	if err := n.waitFor(ctx, n.askJetStream, func(err error) {
		logger.Warn("this node waits for a majority of the cluster", "peers", n.cfg.Cluster.Peers, "error", err)
	}); errors.Is(err, ErrLeft) {
		return err
	} else if err != nil {
		return fmt.Errorf("a majority of the nodes %v has not met: %w", n.cfg.Cluster.Peers, err)
	}
	logger.Info("the cluster has a leader", "waited", time.Since(began).Round(time.Millisecond))
	return nil
}

// waitFor asks again and again until there is no error, and tells the error now and then. It
// returns the last one when ctx ends. No try takes longer than quorumAsk: a question that is on
// its way when a leader changes is never answered.
func (n *NATS) waitFor(ctx context.Context, ask func(context.Context) error, tell func(error)) error {
	told := time.Now()
	for {
		asking, cancel := context.WithTimeout(ctx, quorumAsk)
		err := ask(asking)
		cancel()
		if err == nil || errors.Is(err, ErrLeft) {
			return err
		}
		if time.Since(told) > quorumTell {
			told = time.Now()
			tell(err)
		}
		if !background.Wait(ctx, quorumPause) {
			return err
		}
	}
}

func (n *NATS) askJetStream(ctx context.Context) error {
	if n.isOut(ctx) {
		return ErrLeft
	}
	_, err := n.js.AccountInfo(ctx)
	return err
}

// fetchAgain empties the streams in which damage was found: this node gets them again from
// the others. Without the damaged messages it would have other ones than they, for good.
func (n *NATS) fetchAgain(damaged []logfiles.Mended) error {
	for _, d := range damaged {
		n.cfg.Logger.Error("a file of a stream was damaged; the other nodes of the cluster send the stream again, and the file is kept as it was",
			"stream", d.Stream, "file", d.File, "kept", d.Kept)
		n.mended = append(n.mended, fmt.Sprintf("the file %s of the stream %s was damaged, and the other nodes of the cluster have sent that stream again", d.File, d.Stream))
		if err := os.RemoveAll(filepath.Join(n.cfg.StoreDir, "jetstream", ownAccount, "streams", d.Stream, "msgs")); err != nil {
			return fmt.Errorf("engine: empty the damaged stream %s: %w", d.Stream, err)
		}
	}
	return nil
}

// Leader is the node that leads the stream, "" outside of a cluster and while there is none.
func (n *NATS) Leader(ctx context.Context, stream string) (string, error) {
	if !n.cfg.Cluster.On() {
		return "", nil
	}
	s, err := n.js.Stream(ctx, stream)
	if err != nil {
		return "", fmt.Errorf("engine: ask who leads the stream %s: %w", stream, err)
	}
	if cluster := s.CachedInfo().Cluster; cluster != nil {
		return cluster.Leader, nil
	}
	return "", nil
}

// nodeTag begins the tag of a node, for streams that stand on that node alone.
const nodeTag = "node:"

// Tag is the tag that places a stream on this node.
func (n *NATS) Tag() string { return nodeTag + n.cfg.self }

// Self is the name of this node in its cluster, "" outside of one.
func (n *NATS) Self() string { return n.cfg.self }

// Settled calls do, and in a cluster again and again until it succeeds or says something else
// than that a node is not there yet. Before the engines are there, e is nil.
func (e *Engines) Settled(ctx context.Context, do func(context.Context) error) error {
	for {
		err := do(ctx)
		if err == nil || e == nil || !e.cfg.Cluster.On() || !isUnsettled(err) || !background.Wait(ctx, quorumPause) {
			return err
		}
		e.cfg.Logger.Debug("the cluster cannot do it yet", "error", err)
	}
}

// isUnsettled says whether the error may be gone once all nodes are there.
func isUnsettled(err error) bool {
	if refused, ok := errors.AsType[*jetstream.APIError](err); ok {
		return refused.Code >= firstOwnFault || refused.ErrorCode == codeNoPeers
	}
	if refused, ok := errors.AsType[*server.ApiError](err); ok {
		return refused.Code >= firstOwnFault || refused.ErrCode == uint16(codeNoPeers)
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) || errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrNoStreamResponse)
}

// firstOwnFault is the least code of an answer which says that the server could not do it.
const firstOwnFault = 500

// codeNoPeers is JetStream's code for a stream that finds not enough nodes.
const codeNoPeers = 10005
