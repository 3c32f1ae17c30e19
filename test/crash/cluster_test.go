//go:build linux

package crash

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/test/product"
)

const (
	nodes = 3
	// clusterClients are few: three nodes on one machine fold each event three times, and are
	// to keep up.
	clusterClients = 3
	// ownerPause: each change is an insert of its own on each node.
	ownerPause = 200 * time.Millisecond
	// caughtUpLimit is how long a node may be behind the others on a busy machine: with an empty
	// folder, or when NATS cannot bring its copy of the log up to date for up to two minutes, as
	// ADR 31 says.
	caughtUpLimit = 3 * time.Minute
)

// cluster is services that keep one log, three in most tests.
type cluster struct {
	t     *testing.T
	nodes []*service
	peers []string // the names of the nodes
	net   *network
	ref   *referee
	dir   string // with a folder for each node
	short bool   // a short run, with faults that last less long
	// leaves: a node goes for good, when nothing is in its spool.
	leaves bool
	// calm: senders make pauses up to ten times as long. Five nodes on one machine fold each
	// event five times.
	calm bool
}

// newScatteredCluster makes three nodes that do not run yet.
func newScatteredCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, ref: &referee{accepted: map[string][]sent{}}, dir: t.TempDir()}
	if err := os.WriteFile(c.secret(), []byte(rand.Text()+rand.Text()), 0o600); err != nil {
		t.Fatal(err)
	}
	c.net = newNetwork(t)
	c.add(nodes)
	return c
}

// secret is the file with what all nodes know.
func (c *cluster) secret() string { return filepath.Join(c.dir, "secret") }

// add makes so many nodes that do not run yet. Each node that is started from now on has the
// longer list of peers.
func (c *cluster) add(count int) {
	c.t.Helper()
	for range count {
		folder := filepath.Join(c.dir, fmt.Sprintf("node%d", len(c.nodes)))
		if err := os.Mkdir(folder, 0o700); err != nil {
			c.t.Fatal(err)
		}
		s := newServiceIn(c.t, folder)
		listen, err := product.FreeAddr()
		if err != nil {
			c.t.Fatal(err)
		}
		peer := c.net.open(s, listen)
		s.env = []string{"ERRATA_CLUSTER_NAME=test", "ERRATA_CLUSTER_SECRET=@" + c.secret(), "ERRATA_CLUSTER_LISTEN=" + listen, "ERRATA_CLUSTER_NODE=" + peer}
		c.nodes, c.peers = append(c.nodes, s), append(c.peers, peer)
	}
	for _, s := range c.nodes {
		s.env = append(s.env, "ERRATA_CLUSTER_PEERS="+strings.Join(c.peers, ",")) // the last one counts
	}
}

// copyKeys lets all nodes be asked with the first keys, which the first node has made. They
// outlive its folder.
func (c *cluster) copyKeys() {
	c.t.Helper()
	keys := filepath.Join(c.dir, "keys")
	if err := os.CopyFS(keys, os.DirFS(c.nodes[0].keys)); err != nil {
		c.t.Fatal(err)
	}
	for _, s := range c.nodes {
		s.keys = keys
	}
}

// start starts nodes together, and waits until they are ready.
func (c *cluster) start(which ...int) {
	c.t.Helper()
	for _, i := range which {
		c.nodes[i].launch("")
	}
	c.ready(which...)
}

// ready waits until the nodes are ready.
func (c *cluster) ready(which ...int) {
	c.t.Helper()
	for _, i := range which {
		if !c.nodes[i].awaitReady(c.nodes[i].exited, time.Now().Add(caughtUpLimit)) {
			c.t.Fatalf("node %d has ended by itself", i)
		}
	}
}

// leads finds who leads the log in the check of a cluster.
var leads = regexp.MustCompile(`; (\S+) leads the log`)

// leader is the node that leads the log.
func (c *cluster) leader() (node int) {
	c.t.Helper()
	await(c.t, "a node leads the log", readyLimit, func() bool {
		var answer struct {
			Data struct {
				Checks []struct{ Name, Detail string }
			}
		}
		fetch(c.t, c.nodes[0], "/api/v1/admin/ops/status", &answer)
		for _, check := range answer.Data.Checks {
			if found := leads.FindStringSubmatch(check.Detail); check.Name == "cluster" && found != nil {
				node = slices.Index(c.peers, found[1])
				return true
			}
		}
		return false
	})
	return node
}

// follower is a node that does not lead the log.
func (c *cluster) follower(random *mathrand.Rand) int {
	c.t.Helper()
	return (c.leader() + 1 + random.IntN(nodes-1)) % nodes
}

// signal sends a signal to a node and to its ClickHouse, as what happens to a machine
// happens to both.
func (c *cluster) signal(node int, sig syscall.Signal) {
	c.t.Helper()
	child, err := c.nodes[node].child()
	if err != nil {
		c.t.Fatal(err)
	}
	for _, pid := range []int{c.nodes[node].pid(), child} {
		if err := syscall.Kill(pid, sig); err != nil {
			c.t.Fatal(err)
		}
	}
}

// stop ends a node as an operator does.
func (c *cluster) stop(node int) {
	c.t.Helper()
	if err := c.nodes[node].cmd.Process.Signal(syscall.SIGTERM); err != nil {
		c.t.Fatal(err)
	}
	if !c.nodes[node].awaitDeath(readyLimit) {
		c.t.Fatalf("node %d runs %v after SIGTERM", node, readyLimit)
	}
}

// wipe lets a node lose its disk, when nothing is on it alone: what it has taken into its spool
// is gone with the disk. The others have to be whole until it has its copy of the log again:
// Raft counts on what a node has once said that it keeps.
// The node runs again after meanwhile, nil for nothing.
func (c *cluster) wipe(node int, meanwhile func()) {
	c.t.Helper()
	other := c.nodes[(node+1)%nodes]
	for c.nodes[node].kill(); !c.shows(other); c.nodes[node].kill() {
		c.start(node)
	}
	if err := os.RemoveAll(c.nodes[node].data); err != nil {
		c.t.Fatal(err)
	}
	if meanwhile != nil {
		meanwhile()
	}
	c.start(node)
	want := c.logBytes((node + 1) % nodes)
	await(c.t, "the log is back", caughtUpLimit, func() bool { return c.logBytes(node) >= want })
}

// fill fills the disk of a node, or makes room on it again: no byte can be added to any file of
// the node or of its ClickHouse.
func (c *cluster) fill(node int, full bool) {
	c.t.Helper()
	limit := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	if full {
		limit.Cur = 0
	}
	if err := unix.Prlimit(c.nodes[node].pid(), unix.RLIMIT_FSIZE, &limit, nil); err != nil {
		c.t.Fatal(err)
	}
	child, err := c.nodes[node].child()
	if err != nil {
		return // it has died; the next one has the limit of the node
	}
	if err := unix.Prlimit(child, unix.RLIMIT_FSIZE, &limit, nil); err != nil && !errors.Is(err, unix.ESRCH) {
		c.t.Fatal(err)
	}
}

// shows says whether a node shows within seconds all that was accepted before the call.
func (c *cluster) shows(s *service) bool {
	c.t.Helper()
	c.awaitAnswers() // who has an answer by now has told the referee
	want := c.ref.total()
	for range 40 {
		sum := 0
		for _, r := range list(c.t, s) {
			if !isOwned(r) {
				sum += r.Count
			}
		}
		if sum >= want {
			return true
		}
		// reason: the records may take so long; what is in a spool does not get there.
		time.Sleep(500 * time.Millisecond)
	}
	return false
}

// logBytes is how many bytes of the log a node has.
func (c *cluster) logBytes(node int) (n int64) {
	c.t.Helper()
	blocks, err := filepath.Glob(filepath.Join(c.nodes[node].data, "nats/jetstream/*/streams/LOG/msgs/*.blk"))
	if err != nil {
		c.t.Fatal(err)
	}
	for _, block := range blocks {
		if info, err := os.Stat(block); err == nil { // else it was written anew meanwhile
			n += info.Size()
		}
	}
	return n
}

// store is the records of a node.
func (c *cluster) store(node int) (_ *projector.Store, done func()) {
	c.t.Helper()
	dsn, err := os.ReadFile(filepath.Join(c.nodes[node].data, "run", "clickhouse.dsn"))
	if err != nil {
		c.t.Fatal(err)
	}
	ch, err := engine.StartClickHouse(c.t.Context(), engine.ClickHouseConfig{
		DSN: strings.TrimSpace(string(dsn)), Database: "errata_store", Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return projector.NewStore(ch.Conn(), 0), func() { _ = ch.Stop(context.WithoutCancel(c.t.Context())) }
}

// compare checks that all nodes have the records that the clients know, and the same ones to
// the last byte.
func (c *cluster) compare(o *owner) {
	c.t.Helper()
	c.compareCounts(o)
	c.compareTables()
}

// compareCounts checks that all nodes have the records that the clients know.
func (c *cluster) compareCounts(o *owner) {
	c.t.Helper()
	addrs, at := o.addrs, o.at
	defer func() { o.addrs, o.at = addrs, at }()
	for _, s := range c.nodes {
		compare(c.t, s, c.ref)
		o.addrs, o.at = []string{s.addr}, 0
		compareOwned(c.t, s, o)
	}
}

// compareTables checks that all nodes have the same records to the last byte.
func (c *cluster) compareTables() {
	c.t.Helper()
	var stores []*projector.Store
	for i := range c.nodes {
		store, done := c.store(i)
		defer done()
		stores = append(stores, store)
	}
	var tallies []projector.Tally
	// Ticks and entries of the audit trail come also when nobody sends events.
	await(c.t, "all nodes are at the same fact", caughtUpLimit, func() bool {
		tallies = tallies[:0]
		same := true
		for range 2 { // a Tally reads its checkpoint first
			for _, store := range stores {
				tally, err := store.Tally(c.t.Context())
				if err != nil {
					c.t.Fatal(err)
				}
				tallies = append(tallies, tally)
				same = same && tally.Checkpoint == tallies[0].Checkpoint
			}
		}
		return same
	})
	for i, tally := range tallies[1:len(stores)] {
		if tally != tallies[0] {
			c.t.Errorf("node %d has %+v, and node 0 %+v", i+1, tally, tallies[0])
		}
	}
	c.t.Logf("each node: %+v", tallies[0])
}

// awaitRecords waits until the records of each node have what was accepted before the call.
func (c *cluster) awaitRecords() {
	c.t.Helper()
	for _, s := range c.nodes {
		ask := newOwner(newClient(s, &referee{}, 0, 0, nil), s.key("admin.key"))
		await(c.t, "a node has done a command", caughtUpLimit, ask.nothing)
	}
}

// complaints are the errors in the logs of the nodes, and how often each stands there. A fault
// from which a cluster recovers by itself is not an error of a node.
func (c *cluster) complaints() map[string]int {
	c.t.Helper()
	said := map[string]int{}
	for _, s := range c.nodes {
		text, err := os.ReadFile(s.log.Name())
		if err != nil {
			c.t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			var entry struct{ Level, Msg, Engine, Error string }
			if json.Unmarshal(line, &entry) == nil && entry.Level == slog.LevelError.String() {
				said[strings.TrimSpace(entry.Engine+" "+entry.Msg+": "+entry.Error)]++
			}
		}
	}
	return said
}

// anywhere makes client number i, which turns to another node when one refuses or does not
// answer. Some have less patience than a node, which refuses after 5 s.
func (c *cluster) anywhere(seed uint64, i int, abandon <-chan struct{}) *client {
	one := newClient(c.nodes[0], c.ref, seed, i, abandon)
	one.addrs = nil
	for k := range c.nodes {
		one.addrs = append(one.addrs, c.nodes[(i+k)%len(c.nodes)].addr)
	}
	one.limit = []time.Duration{impatient, 6 * time.Second}[i%2]
	if c.calm {
		one.idle *= 10
	}
	return one
}

// load is that of one service, of clients that turn to any node.
func (c *cluster) load(seed uint64) (o *owner, stop func()) {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	abandon := make(chan struct{})
	var done sync.WaitGroup
	for i := range clusterClients {
		done.Go(func() { c.anywhere(seed, i, abandon).run(ctx) })
	}
	o = newOwner(c.anywhere(seed, clusterClients, abandon), c.nodes[0].key("admin.key"))
	o.limit, o.pause, o.stays = 10*time.Second, ownerPause, !c.leaves // a command waits for the records
	done.Go(func() { o.run(ctx) })
	stop = sync.OnceFunc(func() { cancel(); done.Wait() })
	c.t.Cleanup(func() { close(abandon); stop() })
	return o, stop
}
