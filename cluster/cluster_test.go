package cluster_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/cluster"
	"github.com/errata-log/errata/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// world is what three nodes see: one clock, one leader, and what each says.
type world struct {
	mu     sync.Mutex
	now    time.Time
	leader string
	at     map[string]cluster.Position
	doing  map[string]string
	env    *testenv.Broker

	servers *servers
	bucket  jetstream.KeyValue
	notes   []string // for the audit trail
	refuse  int      // so many notes are refused
}

var nodes = []string{"a:6222", "b:6222", "c:6222"}

func newWorld(t *testing.T) *world {
	w := &world{now: time.Unix(1e9, 0), leader: nodes[0], at: map[string]cluster.Position{}, doing: map[string]string{}, env: testenv.NewBroker(t), servers: newServers()}
	w.bucket = members(t, w)
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// stop stops the nodes. It lets the time pass when the others have heard what these said last:
// a message that comes later would count as said later.
func (w *world) stop(t *testing.T, d time.Duration, nodes ...*cluster.Members) {
	t.Helper()
	for _, node := range nodes {
		node.Stop()
	}
	heard := make(chan struct{})
	if err := errors.Join(w.env.NATS.Flush(), w.env.NATS.Barrier(func() { close(heard) })); err != nil {
		t.Fatal(err)
	}
	<-heard
	w.pass(d)
}

func (w *world) move(node string, to cluster.Position) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at[node] = to
}

func (w *world) lead(node string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leader = node
}

func (w *world) note(ctx context.Context, id string, body any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refuse > 0 {
		w.refuse--
		return errors.New("the log has no leader")
	}
	text, err := json.Marshal(body)
	w.notes = append(w.notes, id+" "+errata.ActorOf(ctx).KeyName+": "+string(text))
	return err
}

// noted are the notes, and how many are still to be refused.
func (w *world) noted() (notes []string, refuse int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.notes), w.refuse
}

// open makes a node that listens.
func (w *world) open(t *testing.T, self string) *cluster.Members {
	t.Helper()
	m, err := cluster.Open(cluster.Config{
		NATS: w.env.NATS, Prefix: w.env.Namespace + ".", Self: self, Peers: nodes, Now: w.clock, Bucket: w.bucket, Servers: serversOf{w.servers, self}, Note: w.note,
		Leader: func(context.Context) (string, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.leader, nil
		},
		About: func() cluster.Member {
			w.mu.Lock()
			defer w.mu.Unlock()
			return cluster.Member{Version: "v1", Position: w.at[self], Free: 1 << 30, Doing: w.doing[self]}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Stop)
	return m
}

func modules(p cluster.Position) uint64 { return p.Modules }

// What a node still needs is kept. For a node that is away it is kept for an hour, or until
// the room is used up.
func TestNothingGoesThatANodeNeeds(t *testing.T) {
	w := newWorld(t)
	a := w.open(t, nodes[0])
	a.Start()
	others := map[string]*cluster.Members{nodes[1]: w.open(t, nodes[1]), nodes[2]: w.open(t, nodes[2])}
	for node, position := range map[string]uint64{nodes[1]: 7, nodes[2]: 9} {
		w.move(node, cluster.Position{Folded: position, Modules: position})
		others[node].Start()
	}
	if err := a.Folded(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	if low := a.Lowest(8, false, modules); low != 7 {
		t.Errorf("the least is %d, want that of b: 7", low)
	}
	if low := a.Lowest(3, false, modules); low != 3 {
		t.Errorf("the least is %d, want its own: 3", low)
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Folded(late, 8); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), nodes[1]) {
		t.Errorf("b has folded 7 of 8: %v", err)
	}
	w.move(nodes[1], cluster.Position{Folded: 8, Modules: 8})
	if err := a.Folded(t.Context(), 8); err != nil {
		t.Fatal(err)
	}

	may := func(m *cluster.Members, urgent, want bool) {
		t.Helper()
		if got, err := m.MayPurge(t.Context(), urgent); got != want {
			t.Errorf("may purge: %v, %v", got, err)
		}
	}
	may(a, false, true)
	w.lead(nodes[1])
	may(a, false, false)
	w.lead(nodes[0])
	w.stop(t, 10*time.Second, slices.Collect(maps.Values(others))...)
	may(a, false, false)
	may(a, true, true)
	if err := a.Folded(t.Context(), 1000); err != nil {
		t.Errorf("it waits for nodes that are away: %v", err)
	}
	if low, urgent := a.Lowest(100, false, modules), a.Lowest(100, true, modules); low != 8 || urgent != 100 {
		t.Errorf("the least is %d and with urgent %d, want 8 and 100", low, urgent)
	}
	w.pass(time.Hour)
	may(a, false, true)
	if low := a.Lowest(100, false, modules); low != 100 {
		t.Errorf("after an hour the least is %d, want 100", low)
	}
}

// A node that was never heard keeps everything until it has been away for long.
func TestANodeThatWasNeverThere(t *testing.T) {
	w := newWorld(t)
	a := w.open(t, nodes[0])
	if low := a.Lowest(5, false, modules); low != 0 {
		t.Errorf("the least is %d, want 0: nobody knows", low)
	}
	w.pass(time.Minute)
	if may, err := a.MayPurge(t.Context(), false); may || err == nil || !strings.Contains(err.Error(), nodes[1]) {
		t.Errorf("may purge: %v, %v", may, err)
	}
}

func TestWithoutACluster(t *testing.T) {
	var m *cluster.Members
	m.Start()
	if may, err := m.MayPurge(t.Context(), false); !may || err != nil {
		t.Errorf("may purge: %v, %v", may, err)
	}
	if err := m.Folded(t.Context(), 1); err != nil {
		t.Error(err)
	}
	if low := m.Lowest(5, false, modules); low != 5 {
		t.Errorf("the least is %d, want 5", low)
	}
	if checks := m.Checks(t.Context()); checks != nil {
		t.Errorf("%v", checks)
	}
	if nodes := m.Nodes(t.Context()); nodes != nil {
		t.Errorf("%v", nodes)
	}
}

func TestChecksNameEachNode(t *testing.T) {
	w := newWorld(t)
	a := w.open(t, nodes[0])
	w.doing[nodes[2]] = "takes the records of node b: 1 of 2 MB"
	for _, node := range nodes[1:] {
		w.move(node, cluster.Position{Folded: 812})
		m := w.open(t, node)
		m.Start()
		defer m.Stop()
	}
	if err := a.Folded(t.Context(), 812); err != nil {
		t.Fatal(err)
	}
	checks := func() map[string]errata.Check {
		list := map[string]errata.Check{}
		for _, c := range a.Checks(t.Context()) {
			list[c.Name] = c
		}
		return list
	}
	now := checks()
	if b := now["node "+nodes[1]]; len(now) != 4 || !now["cluster"].OK || !strings.Contains(now["cluster"].Detail, nodes[0]+" leads") || !b.OK || !strings.Contains(b.Detail, "fact 812") {
		t.Errorf("%v", now)
	}
	if c := checks()["node "+nodes[2]]; c.OK || !strings.Contains(c.Detail, "1 of 2 MB") || c.Hint == "" {
		t.Errorf("a node that takes records: %+v", c)
	}
	// This node has not said anything itself.
	for i, n := range a.Nodes(t.Context())[1:] {
		if n.Name != nodes[i+1] || n.Role != "follows" || n.Position != 812 || n.Version != "v1" || n.Free != 1<<30 || !time.Time(n.Away).IsZero() {
			t.Errorf("%+v", n)
		}
	}
	w.lead(nodes[2])
	if n := a.Nodes(t.Context())[2]; n.Role != "leads" {
		t.Errorf("%+v leads", n)
	}
	w.lead("")
	if c := checks()["cluster"]; c.OK || c.Hint == "" {
		t.Errorf("without a leader: %+v", c)
	}
}

func TestANodeThatIsAwayIsSeen(t *testing.T) {
	w := newWorld(t)
	a := w.open(t, nodes[0])
	w.pass(10 * time.Second)
	for _, c := range a.Checks(t.Context()) {
		if c.OK != (c.Name == "cluster") || c.Name == "node "+nodes[2] && !strings.Contains(c.Detail, "not heard for 10s") {
			t.Errorf("%+v: nobody was heard for 10 s", c)
		}
	}
	for i, n := range a.Nodes(t.Context()) {
		if n.Name != nodes[i] || n.Self != (i == 0) || n.Role != "away" || !time.Time(n.Away).Equal(time.Unix(1e9, 0)) {
			t.Errorf("%+v: nobody was heard since the beginning", n)
		}
	}
}

const (
	secret = "a secret of a test, with 32 characters"
	name   = "some.secret"
)

func TestSecretsAreTheSameEverywhere(t *testing.T) {
	env := testenv.NewBroker(t)
	bucket, err := env.JetStream.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: env.Namespace + "shared", Storage: jetstream.MemoryStorage})
	if err != nil {
		t.Fatal(err)
	}
	share := func(dir, secret string) ([]byte, error) {
		err := cluster.ShareSecrets(t.Context(), bucket, secret, dir, name)
		text, _ := os.ReadFile(filepath.Join(dir, name)) // nil when there is none
		return text, err
	}
	var wait sync.WaitGroup
	found := make([][]byte, 5)
	for i := range found { // all at once
		dir := t.TempDir()
		wait.Go(func() {
			for range 2 { // as at a second start
				text, err := share(dir, secret)
				if err != nil {
					t.Error(err)
				}
				found[i] = text
			}
		})
	}
	wait.Wait()
	for _, one := range found {
		if len(one) != 32 || !bytes.Equal(one, found[0]) {
			t.Errorf("%x and %x", one, found[0])
		}
	}
	entry, err := bucket.Get(t.Context(), "secret."+name)
	if err != nil || bytes.Contains(entry.Value(), found[0]) {
		t.Errorf("the bucket has the secret itself: %v", err)
	}
	if text, err := share(t.TempDir(), secret+"!"); err == nil || !strings.Contains(err.Error(), "cluster-secret") || text != nil {
		t.Errorf("another secret of the cluster: %x, %v", text, err)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, name), bytes.Repeat([]byte{1}, 32), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := share(other, secret); err == nil || text[0] != 1 {
		t.Errorf("a node with a secret of its own: %v", err)
	}
}

// Who has no records of its own takes those of the node that is furthest ahead, and waits for one
// that may only be late.
func TestWhoIsAhead(t *testing.T) {
	w := newWorld(t)
	a, b, c := w.open(t, nodes[0]), w.open(t, nodes[1]), w.open(t, nodes[2])
	a.Start()
	w.move(nodes[1], cluster.Position{Folded: 7})
	w.move(nodes[2], cluster.Position{Folded: 9})
	b.Start()
	asked, found := make(chan struct{}), make(chan []string, 1)
	go func() { // ends when c is heard
		close(asked)
		list, err := a.Ahead(t.Context(), 8)
		if err != nil {
			t.Error(err)
		}
		found <- list
	}()
	<-asked
	c.Start()
	if list := <-found; !slices.Equal(list, []string{nodes[2], nodes[1]}) {
		t.Errorf("ahead are %v", list)
	}
	if list, err := a.Ahead(t.Context(), 9); err != nil || !slices.Equal(list, nodes[2:]) {
		t.Errorf("with fact 8 are %v, %v", list, err)
	}
	w.stop(t, 10*time.Second, b, c)
	if list, err := a.Ahead(t.Context(), 1); err != nil || len(list) > 0 {
		t.Errorf("nobody is there, and ahead are %v, %v", list, err)
	}
}
