//go:build linux && upgrade

package crash

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/errata-log/errata/test/product"
)

// fromVariable names the revision of the repository that is updated.
const fromVariable = "ERRATA_UPGRADE_FROM"

// eventsPerStep is how many events are sent at least between two comparisons.
const eventsPerStep = 5_000

// upgrade is a cluster whose nodes are replaced one after the other, while events are sent.
type upgrade struct {
	*cluster
	older, newer string // the programs
	clients      []*client
	owner        *owner
	pause        func()
	compared     int // events at the last comparison
}

// TestUpgradeOneNodeAfterTheOther replaces each node of a cluster by one of this version, takes
// one back and replaces it again. Senders never notice, and at each step every node has counted
// everything that was accepted, exactly once.
func TestUpgradeOneNodeAfterTheOther(t *testing.T) {
	root, from := filepath.Join("..", ".."), os.Getenv(fromVariable)
	if from == "" {
		t.Fatalf("%s is not set; make test-upgrade FROM=REVISION sets it", fromVariable)
	}
	source := checkOut(t, root, from)
	u := &upgrade{cluster: newScatteredCluster(t), older: buildOlder(t, source)}
	u.newer = u.nodes[0].binary
	for _, s := range u.nodes {
		s.binary = u.older
	}
	u.start(0, 1, 2)
	u.copyKeys()
	u.makeLoad(uint64(time.Now().UnixNano()))
	u.send()
	u.settle("three nodes of " + from)
	for node := range nodes {
		u.replace(node, u.newer, fmt.Sprintf("node %d is updated", node))
	}
	if !slices.Equal(tablesOf(t, source), tablesOf(t, root)) {
		t.Logf("this version has made tables that %s does not know: no node goes back", from)
	} else {
		u.replace(1, u.older, "node 1 goes back")
		u.replace(1, u.newer, "node 1 is updated again")
	}
	u.pause()
	for said, times := range u.complaints() {
		t.Logf("an error in the logs of the nodes, %d times: %s", times, said)
	}
}

// checkOut writes the files of a revision into a folder.
func checkOut(t *testing.T, root, revision string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	archive := filepath.Join(dir, "source.tar")
	for _, command := range [][]string{
		{"git", "-C", root, "archive", "--format=tar", "--output=" + archive, revision},
		{"tar", "-xf", archive, "-C", dir},
	} {
		if out, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
		}
	}
	return dir
}

// buildOlder builds the two programs of another version, with the flags of those of this one.
func buildOlder(t *testing.T, source string) (binary string) {
	t.Helper()
	dir := t.TempDir()
	if _, err := product.Build(t.Context(), source, "errata-engine", dir); err != nil {
		t.Fatal(err)
	}
	binary, err := product.Build(t.Context(), source, "errata", dir, "failpoints")
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// tablesOf are the names of the migrations of a version.
func tablesOf(t *testing.T, root string) []string {
	t.Helper()
	files, err := fs.Glob(os.DirFS(root), "migrations/clickhouse/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("migrations of %s: %v, %v", root, files, err)
	}
	return files
}

// makeLoad makes the senders, which go on with the same events after each pause.
func (u *upgrade) makeLoad(seed uint64) {
	u.t.Helper()
	abandon := make(chan struct{})
	for i := range clusterClients {
		u.clients = append(u.clients, u.anywhere(seed, i, abandon))
	}
	u.owner = newOwner(u.anywhere(seed, clusterClients, abandon), u.nodes[0].key("admin.key"))
	u.owner.limit, u.owner.pause, u.owner.stays = 10*time.Second, ownerPause, true
	u.t.Cleanup(func() { close(abandon); u.pause() })
}

// send begins to send events, until pause.
func (u *upgrade) send() {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	for _, one := range u.clients {
		done.Go(func() { one.run(ctx) })
	}
	done.Go(func() { u.owner.run(ctx) })
	u.pause = sync.OnceFunc(func() { cancel(); done.Wait() })
}

// replace stops a node as an operator does, and starts it with another program, while events
// are sent.
func (u *upgrade) replace(node int, program, what string) {
	u.t.Helper()
	u.awaitAnswers() // the pause before is no gap
	u.ref.gaps.take()
	s, began := u.nodes[node], time.Now()
	u.stop(node)
	s.binary = program
	stopped := time.Now()
	u.start(node)
	ready := time.Now()
	if runs, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", s.pid())); err != nil || runs != program {
		u.t.Fatalf("node %d runs %s (%v), want %s", node, runs, err, program)
	}
	u.awaitAnswers()
	u.awaitRecords()
	silent, waited := u.ref.gaps.take()
	u.t.Logf("%s: stopped in %.1f s, ready after %.1f s, its records complete after %.1f s; nobody was answered for %.1f s, one sender waited for %.1f s",
		what, stopped.Sub(began).Seconds(), ready.Sub(stopped).Seconds(), time.Since(ready).Seconds(), silent.Seconds(), waited.Seconds())
	u.settle(what)
}

// settle lets the senders pause, compares all nodes, and lets them go on.
func (u *upgrade) settle(what string) {
	u.t.Helper()
	want := u.compared + eventsPerStep
	await(u.t, "enough events are sent", visibleLimit, func() bool { return u.ref.total() >= want })
	u.pause()
	u.compared = u.ref.total()
	u.awaitRecords()
	u.compareCounts(u.owner)
	if folds := u.folds(); len(folds) > 1 {
		u.t.Logf("%s: the tables are made by the versions %v of the fold, and may differ", what, folds)
	} else {
		u.compareTables()
	}
	u.t.Logf("%s: %d events are counted on all nodes", what, u.compared)
	u.send()
}

// folds are the versions of the fold by which the tables of the nodes are made.
func (u *upgrade) folds() (all []int) {
	u.t.Helper()
	for node := range nodes {
		store, done := u.store(node)
		checkpoint, err := store.Checkpoint(u.t.Context())
		done()
		if err != nil {
			u.t.Fatal(err)
		}
		all = append(all, checkpoint.Fold)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
