//go:build linux

package crash

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestANodeLeavesItsCluster: the node that leads the log leaves while events go on. It stops by
// itself, the others forget it, and its old folder starts no node any more.
func TestANodeLeavesItsCluster(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	c := newScatteredCluster(t)
	c.leaves = true
	c.start(0, 1, 2)
	c.copyKeys()
	o, stop := c.load(seed)
	await(t, "events are sent", visibleLimit, func() bool { return c.ref.total() > 2000 })
	gone := c.leader()
	asked := c.nodes[(gone+1)%nodes]
	if text, err := c.leave(asked, c.peers[gone]); err == nil || !strings.Contains(text, "--running") {
		t.Fatalf("a node that runs: %v\n%s", err, text)
	}
	await(t, "the node may leave", readyLimit, func() bool { // events may wait in its spool at the moment
		text, err := c.leave(asked, c.peers[gone], "--running")
		if err == nil && !strings.Contains(text, "no further node may fail") {
			t.Errorf("what comes next: %s", text)
		}
		return err == nil
	})
	if !c.nodes[gone].awaitDeath(readyLimit) {
		t.Fatal("the node that left still runs")
	}
	if c.said(gone, "this node has left the cluster") == 0 {
		t.Error("the node that left does not say why it stopped")
	}
	sent := c.ref.total()
	await(t, "events go on", visibleLimit, func() bool { return c.ref.total() > sent+1000 })
	stop()
	for i, s := range c.nodes {
		if i == gone {
			continue
		}
		compare(t, s, c.ref)
		o.addrs, o.at = []string{s.addr}, 0
		compareOwned(t, s, o)
		if out := c.command(s, "cluster", "status"); strings.Contains(out, c.peers[gone]) || strings.Count(out, "leads") != 1 || strings.Contains(out, "away") {
			t.Errorf("the status at node %d:\n%s", i, out)
		}
	}
	await(t, "the audit trail has one entry of it", readyLimit, func() bool {
		entries := c.text(asked, "audit?action=cluster.leave")
		return strings.Count(entries, `"cluster.leave"`) == 1 && strings.Contains(entries, `"request":{"node":"`+c.peers[gone]+`","running":true,`) &&
			strings.Contains(entries, `"route":"POST /api/v1/admin/ops/nodes/leave"`)
	})
	c.staysOut(gone)
}

// leave asks a node that another one leaves.
func (c *cluster) leave(asked *service, args ...string) (out string, err error) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), asked.binary, append([]string{"cluster", "leave", "--url", "http://" + asked.addr, "--key", "@" + filepath.Join(asked.keys, "admin.key")}, args...)...)
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// staysOut starts a node that left with its old folder: also one that did not hear of it.
func (c *cluster) staysOut(gone int) {
	c.t.Helper()
	s := c.nodes[gone]
	for _, knows := range []bool{true, false} {
		if !knows {
			file := filepath.Join(s.data, "cluster.json")
			text, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(file, []byte(strings.Replace(string(text), `,"left":true`, "", 1)), 0o600)
			}
			if err != nil {
				c.t.Fatal(err)
			}
		}
		said := c.said(gone, "has left the cluster (errata cluster leave)")
		s.launch("")
		if !s.awaitDeath(readyLimit) {
			_ = s.cmd.Process.Signal(syscall.SIGTERM) // the test fails already
			c.t.Fatalf("a node that left starts again; it knew: %v", knows)
		}
		if c.said(gone, "has left the cluster (errata cluster leave)") == said {
			c.t.Errorf("a node that left does not say why it does not start; it knew: %v", knows)
		}
		if out := c.command(c.nodes[(gone+1)%nodes], "cluster", "status"); strings.Contains(out, c.peers[gone]) {
			c.t.Errorf("the others count it again:\n%s", out)
		}
	}
}
