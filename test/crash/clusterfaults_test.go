//go:build linux

package crash

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"
)

const (
	// shortFaults is how many faults a cluster has in make test. ERRATA_CRASH_FAULTS sets
	// another number, for each of which at least eventsPerFault are sent; ERRATA_CRASH_FAULT
	// is a pattern of the names of those that are tried.
	shortFaults    = 3
	eventsPerFault = 10_000
)

// fault is one thing that happens to a cluster. After deal all nodes are ready.
type fault struct {
	name string
	deal func(c *cluster, random *rand.Rand)
}

// faults begin with those of a short run.
func faults() []fault {
	kill, cut, freeze, stop, wipe, fill := either("kill", dieAndReturn), either("cut off", cutOff), either("freeze", freeze), either("stop", stopAndReturn),
		either("empty", func(c *cluster, node int, _ *rand.Rand) { c.wipe(node, nil) }), either("fill the disk of", fillDisk)
	return []fault{kill.leader, cut.leader,
		{"empty a node after a purge, and kill it meanwhile", func(c *cluster, random *rand.Rand) { c.wipePurged(c.follower(random), random) }},
		fill.leader, wipe.follower,
		{"kill two of three", func(c *cluster, random *rand.Rand) {
			stays := random.IntN(nodes)
			one, other := (stays+1)%nodes, (stays+2)%nodes
			c.nodes[one].kill()
			c.nodes[other].kill()
			c.rest(random, 0, 5)
			c.start(one, other)
		}},
		freeze.leader, kill.follower, stop.leader, cut.follower, wipe.leader, freeze.follower, stop.follower, fill.follower,
		{"kill a ClickHouse", func(c *cluster, random *rand.Rand) {
			node := random.IntN(nodes)
			if err := c.nodes[node].killClickHouse(); err != nil {
				c.t.Fatal(err)
			}
			c.ready(node)
		}},
		{"empty a node after a purge", func(c *cluster, random *rand.Rand) { c.wipePurged(random.IntN(nodes), nil) }},
		{"stop one after another", func(c *cluster, _ *rand.Rand) {
			for node := range nodes {
				c.stop(node)
				c.start(node)
			}
		}},
	}
}

// either is a fault that happens to the leader, or to a follower.
func either(name string, deal func(c *cluster, node int, random *rand.Rand)) (f struct{ leader, follower fault }) {
	f.leader = fault{name + " the leader", func(c *cluster, random *rand.Rand) { deal(c, c.leader(), random) }}
	f.follower = fault{name + " a follower", func(c *cluster, random *rand.Rand) { deal(c, c.follower(random), random) }}
	return f
}

func dieAndReturn(c *cluster, node int, random *rand.Rand) {
	c.nodes[node].kill()
	c.rest(random, 0, 12) // the others choose another leader, or not yet
	c.start(node)
}

func cutOff(c *cluster, node int, random *rand.Rand) {
	c.net.cut(node)
	c.rest(random, 3, 15)
	c.net.cut(-1)
	c.ready(0, 1, 2)
}

func freeze(c *cluster, node int, random *rand.Rand) {
	c.signal(node, syscall.SIGSTOP)
	c.rest(random, 3, 15)
	c.signal(node, syscall.SIGCONT)
	c.ready(0, 1, 2)
}

func stopAndReturn(c *cluster, node int, random *rand.Rand) {
	c.stop(node)
	c.rest(random, 0, 5)
	c.start(node)
}

func fillDisk(c *cluster, node int, random *rand.Rand) {
	c.fill(node, true)
	c.rest(random, 3, 15)
	c.fill(node, false)
	c.ready(0, 1, 2)
}

// rest lets clients go on for a random time between so many seconds.
func (c *cluster) rest(random *rand.Rand, least, most int) {
	if c.short {
		most = min(most, least+2)
	}
	// reason: how long a fault lasts is what is tried.
	time.Sleep(time.Duration(least)*time.Second + time.Duration(random.Int64N(int64(most-least)*int64(time.Second))))
}

// faultsOf is how many faults are dealt, and how many events are sent at least.
func faultsOf(t *testing.T) (n, events int) {
	t.Helper()
	text := os.Getenv("ERRATA_CRASH_FAULTS")
	if text == "" {
		return shortFaults, 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n, n * eventsPerFault
}

// TestAClusterCountsExactly lets faults happen to three nodes which keep one log, under load,
// and compares the records of each of them.
func TestAClusterCountsExactly(t *testing.T) {
	n, events := faultsOf(t)
	only := regexp.MustCompile(os.Getenv("ERRATA_CRASH_FAULT"))
	all := slices.DeleteFunc(faults(), func(f fault) bool { return !only.MatchString(f.name) })
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	c := newScatteredCluster(t)
	ref := c.ref
	c.short = events == 0
	l := c.listen(seed)
	c.start(0, 1, 2)
	c.copyKeys()
	noMoreCauses, told := func() {}, func() {}
	if !c.short { // a rule sends a message in a minute
		noMoreCauses, told = c.tells(l, seed)
	}
	o, stop := c.load(seed)
	var waits waits
	for i := range n {
		c.rest(random, 0, 2)
		ref.gaps.take()
		began := time.Now()
		f := all[i%len(all)]
		f.deal(c, random)
		over := time.Now()
		c.awaitAnswers()
		c.awaitRecords()
		w := wait{name: f.name, runs: 1, behind: time.Since(over), lasted: time.Since(began)}
		w.silent, w.waited = ref.gaps.take()
		waits.note(w)
		if !c.short {
			t.Logf("%d: %+v", i+1, w)
		}
	}
	await(t, "all events are sent", 15*time.Minute, func() bool { return ref.total() >= events })
	stop()
	noMoreCauses()
	t.Logf("%d faults; events accepted %d, requests answered %d, failed %d, resent %d, events sent twice %d\n%s",
		n, ref.total(), ref.answers.Load(), ref.failures.Load(), ref.resends.Load(), ref.repeats.Load(), waits.String())
	c.compare(o)
	told()
	for said, times := range c.complaints() {
		t.Logf("an error in the logs of the nodes, %d times: %s", times, said)
	}
}

// awaitAnswers waits until clients have been answered again.
func (c *cluster) awaitAnswers() {
	c.t.Helper()
	// More answers than there are clients: the one that waits longest has one of them.
	want := c.ref.answers.Load() + 10*clusterClients
	await(c.t, "events are taken", visibleLimit, func() bool { return c.ref.answers.Load() >= want })
}

// wait is how long everybody had to wait in one kind of fault, at worst.
type wait struct {
	name string
	runs int
	// silent: nobody was answered; waited: one sender without patience, from its first try; behind: the records
	// of a node, after all nodes were ready; lasted: the fault, until all was well.
	silent, waited, behind, lasted time.Duration
}

type waits []wait

func (w *waits) note(one wait) {
	for i := range *w {
		if have := &(*w)[i]; have.name == one.name {
			have.runs += one.runs
			have.silent, have.waited = max(have.silent, one.silent), max(have.waited, one.waited)
			have.behind, have.lasted = max(have.behind, one.behind), max(have.lasted, one.lasted)
			return
		}
	}
	*w = append(*w, one)
}

// String is a table.
func (w *waits) String() string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "fault\truns\tnobody was answered\tone sender waited\trecords behind\tall of it took")
	for _, one := range *w {
		fmt.Fprintf(table, "%s\t%d\t%.1fs\t%.1fs\t%.1fs\t%.1fs\n", one.name, one.runs, one.silent.Seconds(), one.waited.Seconds(), one.behind.Seconds(), one.lasted.Seconds())
	}
	_ = table.Flush() // into memory
	return text.String()
}
