//go:build linux && upgrade

package crash

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// replicas is on how many nodes each stream stands.
const replicas = 3

// TestUpgradeFromThreeNodesToFive does what docs/operations.md says, under load: two nodes start
// with the list of five, then each of the three starts again with it, and one of these leaves.
// It comes back too early, and waits. Senders go on all the time, and each node that is there has counted everything once. It takes one
// to two minutes, since five services with their engines share one machine: make test-upgrade runs
// it, and make test does not.
func TestUpgradeFromThreeNodesToFive(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	c := newScatteredCluster(t)
	c.leaves, c.calm = true, true
	c.start(0, 1, 2)
	c.add(2)
	c.copyKeys()
	o, stop := c.load(seed) // they know all five addresses
	c.goesOn()
	c.start(3, 4)
	c.isComplete(3, 4) // to the three, the others are strangers that read and write
	c.goesOn()
	for node := range nodes {
		c.stop(node)
		c.start(node)
	}
	c.goesOn()
	c.isComplete(0, 1, 2, 3, 4)
	c.standOnThree()

	const gone = 1
	await(t, "a node leaves", readyLimit, func() bool { // events may wait in its spool at the moment
		_, err := c.leave(c.nodes[4], c.peers[gone], "--running")
		return err == nil
	})
	if !c.nodes[gone].awaitDeath(readyLimit) {
		t.Fatal("the node that left still runs")
	}
	c.tooEarly(gone)
	c.goesOn()
	stop()
	c.nodes, c.peers = slices.Delete(c.nodes, gone, gone+1), slices.Delete(c.peers, gone, gone+1)
	c.standOnThree()
	c.compare(o)
}

// tooEarly starts a node that has just left with an empty folder, and stops it when it has said that
// it waits.
func (c *cluster) tooEarly(gone int) {
	c.t.Helper()
	if err := os.RemoveAll(c.nodes[gone].data); err != nil {
		c.t.Fatal(err)
	}
	c.nodes[gone].launch("")
	await(c.t, "a node that comes back too early says so", readyLimit, func() bool {
		return c.said(gone, "is one of it again five minutes after it left") > 0
	})
	if c.nodes[gone].get("/readyz") != 0 {
		c.t.Error("it has opened its doors")
	}
	c.stop(gone)
}

// goesOn waits until events are taken for a while.
func (c *cluster) goesOn() {
	c.t.Helper()
	sent := c.ref.total()
	await(c.t, "events go on", visibleLimit, func() bool { return c.ref.total() > sent+200 })
}

// isComplete waits until each of these nodes says that all nodes are there and that one leads.
func (c *cluster) isComplete(which ...int) {
	c.t.Helper()
	for _, node := range which {
		var out string
		await(c.t, "all nodes are there", readyLimit, func() bool {
			out = c.command(c.nodes[node], "cluster", "status")
			return strings.Count(out, "leads") == 1 && strings.Count(out, "follows") == len(c.nodes)-1
		})
	}
}

// standOnThree waits until each stream stands on three nodes, and the spool of each on that one.
func (c *cluster) standOnThree() {
	c.t.Helper()
	stand := map[string]int{} // on how many nodes, by name
	defer func() { c.t.Logf("streams stand on so many nodes: %v", stand) }()
	await(c.t, "each stream stands on three nodes", readyLimit, func() bool {
		clear(stand)
		for _, s := range c.nodes {
			found, err := filepath.Glob(filepath.Join(s.data, "nats/jetstream/*/streams/*/msgs"))
			if err != nil {
				c.t.Fatal(err)
			}
			for _, messages := range found {
				stand[filepath.Base(filepath.Dir(messages))]++
			}
		}
		spools := 0
		for name, nodes := range stand {
			spool := strings.HasPrefix(name, "SPOOL_")
			if spool {
				spools++
			}
			if spool && nodes != 1 || !spool && nodes != replicas {
				return false
			}
		}
		return spools == len(c.nodes) && stand["LOG"] == replicas
	})
}
