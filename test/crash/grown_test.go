//go:build linux

package crash

import (
	"context"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/errata-log/errata/internal/failpoint"
	"github.com/errata-log/errata/projector"
)

const (
	// aloneTime is how long clients send to the service before it becomes a node, and
	// togetherTime how long to all nodes afterwards.
	aloneTime    = 4 * time.Second
	togetherTime = 3 * time.Second
	// initKills is how often the move of the log is killed, each time within initMoment.
	initKills  = 2
	initMoment = 3 * time.Second
	// initLimit is how long the move may take after that on a busy machine.
	initLimit = 2 * time.Minute
)

// A service with events, deletes and a project becomes the first node of three. The move of its
// log is killed again and again. Its records go on where they were, and its keys hold everywhere.
func TestOneServiceBecomesThree(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := mathrand.New(mathrand.NewPCG(seed, 0))
	c := newScatteredCluster(t)
	old := c.nodes[0]
	env := old.env
	old.env = nil
	if _, ready := old.start(""); !ready {
		t.Fatal("the service did not start")
	}
	c.copyKeys()
	senders, o := c.senders(seed)
	run(t, aloneTime, senders, o)
	compare(t, old, c.ref)
	compareOwned(t, old, o)
	c.command(old, "projects", "create", "Web shop")
	before, projects, trail := c.checkpoint(0), c.text(old, "projects"), c.text(old, "audit?limit=5")
	c.stop(0)

	old.env = env
	for _, s := range c.nodes[1:] {
		s.launch("") // they wait for the first one
	}
	for range initKills {
		init := c.growing()
		// reason: the kill comes at any moment of the move.
		time.Sleep(time.Duration(random.Int64N(int64(initMoment))))
		if err := init.Process.Kill(); err == nil {
			_ = init.Wait() // it was killed, or was done before
		}
	}
	c.grow()
	c.start(0)
	if now := c.checkpoint(0); now.Log != before.Log || now.Sequence < before.Sequence {
		t.Errorf("the records of the first node are at fact %d of log %d, before at %d of %d", now.Sequence, now.Log, before.Sequence, before.Log)
	}
	c.ready(1, 2)
	for i, s := range c.nodes {
		if got := c.text(s, "projects"); got != projects {
			t.Errorf("node %d has the projects %s, want %s", i, got, projects)
		}
		compare(t, s, c.ref)
	}
	for i, s := range senders {
		s.addrs, s.at = []string{c.nodes[i%nodes].addr}, 0
	}
	run(t, togetherTime, senders, o)
	c.compare(o)
	if got := c.text(c.nodes[1], "audit?limit=100"); !strings.Contains(got, firstID(t, trail)) {
		t.Errorf("the audit trail lacks %s: %s", firstID(t, trail), got)
	}
	if out := c.command(c.nodes[2], "cluster", "status"); strings.Count(out, "leads") != 1 || strings.Count(out, "follows") != nodes-1 {
		t.Errorf("the status of the cluster:\n%s", out)
	}
	if _, err := os.Stat(filepath.Join(old.data, "nats.alone")); !os.IsNotExist(err) {
		t.Errorf("the files of the service of its own are still there: %v", err)
	}
}

// senders send to the first node, and so does the owner.
func (c *cluster) senders(seed uint64) (senders []*client, o *owner) {
	abandon := make(chan struct{})
	for i := range clusterClients {
		senders = append(senders, newClient(c.nodes[0], c.ref, seed, i, abandon))
	}
	o = newOwner(newClient(c.nodes[0], c.ref, seed, clusterClients, abandon), c.nodes[0].key("admin.key"))
	o.pause = ownerPause
	c.t.Cleanup(func() { close(abandon) })
	return senders, o
}

// run lets all of them work for a while.
func run(t *testing.T, d time.Duration, senders []*client, o *owner) {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	var done sync.WaitGroup
	for _, s := range senders {
		done.Go(func() { s.run(ctx) })
	}
	done.Go(func() { o.run(ctx) })
	done.Wait()
}

// command runs a command of the administrator, which asks the node.
func (c *cluster) command(s *service, args ...string) (out string) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), s.binary, append(args, "--url", "http://"+s.addr, "--key", "@"+filepath.Join(s.keys, "admin.key"))...)
	text, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("errata %v: %v\n%s", args, err, text)
	}
	return string(text)
}

// growing starts the move of the log of the first node into the cluster.
func (c *cluster) growing() *exec.Cmd {
	c.t.Helper()
	s := c.nodes[0]
	init := exec.CommandContext(c.t.Context(), s.binary, "cluster", "init", "--data", s.data)
	init.Env = append(append(os.Environ(), failpoint.Variable+"="), s.env...)
	init.Stdout, init.Stderr = s.log, s.log
	if err := init.Start(); err != nil {
		c.t.Fatal(err)
	}
	return init
}

// grow moves the log to the end, unless that is done already.
func (c *cluster) grow() {
	c.t.Helper()
	aside := filepath.Join(c.nodes[0].data, "nats.alone")
	if _, err := os.Stat(aside); os.IsNotExist(err) {
		c.t.Log("the move was done before a kill")
		return
	}
	late := time.AfterFunc(initLimit, func() { c.t.Error("the move of the log takes too long") })
	defer late.Stop()
	if err := c.growing().Wait(); err != nil {
		c.t.Fatalf("the move of the log: %v", err)
	}
}

func (c *cluster) checkpoint(node int) projector.Checkpoint {
	c.t.Helper()
	store, done := c.store(node)
	defer done()
	cp, err := store.Checkpoint(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	return cp
}

// text is the data that a node answers, with the same address for all nodes.
func (c *cluster) text(s *service, path string) string {
	c.t.Helper()
	var answer struct{ Data rawText }
	fetch(c.t, s, "/api/v1/admin/"+path, &answer)
	return strings.ReplaceAll(string(answer.Data), s.addr, "node") // in a DSN
}

type rawText []byte

func (r *rawText) UnmarshalJSON(text []byte) error {
	*r = slices.Clone(text)
	return nil
}

// firstID is the first id in the text.
func firstID(t *testing.T, text string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, `"id":`)
	id, _, _ := strings.Cut(rest, ",")
	if !ok || id == "" {
		t.Fatalf("there is no id in %s", text)
	}
	return `"id":` + id + ","
}
