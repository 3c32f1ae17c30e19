package projects_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/projects"
	"github.com/errata-log/errata/settings"
	"github.com/errata-log/errata/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// node is one node of the service, with stores of its own.
type node struct {
	*projects.Service
	facts *settings.Store
	keys  *access.Store
}

func newNode(t *testing.T, env *testenv.Broker, numbers ...uint64) node {
	t.Helper()
	n := newStores(t, env)
	n.serve(t, projects.Config{Keys: n.keys, Numbers: numbers})
	return n
}

// serve gives the node a service with its facts and this configuration.
func (n *node) serve(t *testing.T, cfg projects.Config) {
	t.Helper()
	cfg.Facts = n.facts
	var err error
	if n.Service, err = projects.NewService(cfg); err != nil {
		t.Fatal(err)
	}
}

// newStores are the stores of a node.
func newStores(t *testing.T, env *testenv.Broker) node {
	t.Helper()
	bucket, err := env.JetStream.KeyValue(t.Context(), migrations.KeysBucket(env.Namespace))
	if err != nil {
		t.Fatal(err)
	}
	n := node{}
	if n.keys, err = access.Open(t.Context(), access.Config{Bucket: bucket}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.keys.Close)
	if n.facts, err = settings.Open(t.Context(), settings.Config{Log: logOf(env)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.facts.Close)
	return n
}

func logOf(env *testenv.Broker) eventlog.Log {
	return eventlog.Log{
		NATS: env.NATS, JetStream: env.JetStream,
		Stream: migrations.StreamName(env.Namespace), Prefix: migrations.SubjectPrefix(env.Namespace),
	}
}

// list is number, slug and name of each project.
func (n node) list(t *testing.T) string {
	t.Helper()
	all, err := n.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, p := range all {
		lines = append(lines, fmt.Sprint(p.ID, " ", p.Slug, " ", p.Name))
	}
	return strings.Join(lines, "|")
}

func facts(t *testing.T, env *testenv.Broker) uint64 {
	t.Helper()
	state, err := eventlog.Inspect(t.Context(), logOf(env))
	if err != nil {
		t.Fatal(err)
	}
	return state.Facts
}

// TestNodesThatStartTogetherMakeOneDefault: however many start at once and again, there
// is one project and one fact.
func TestNodesThatStartTogetherMakeOneDefault(t *testing.T) {
	env := testenv.NewBroker(t)
	nodes := []node{newNode(t, env), newNode(t, env), newNode(t, env)}
	var starts sync.WaitGroup
	for i := range 9 {
		starts.Go(func() {
			if err := nodes[i%3].Begin(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	starts.Wait()
	for i, n := range nodes {
		if got := n.list(t); got != "1 default default" {
			t.Errorf("node %d lists %q", i, got)
		}
	}
	if n := facts(t, env); n != 1 {
		t.Errorf("%d facts, want 1", n)
	}
}

// TestCreate: numbers and slugs are given out once, the key sends for the project, and
// every node shows it at once.
func TestCreate(t *testing.T) {
	env := testenv.NewBroker(t)
	a, b := newNode(t, env, 1, 3), newNode(t, env, 1, 3) // 3 is used without a key
	for _, n := range []node{a, b} {
		if err := n.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var makers sync.WaitGroup
	for i := range 6 {
		makers.Go(func() {
			n := []node{a, b}[i%2]
			p, key, text, err := n.Create(t.Context(), projects.New{Name: "Shop", Platform: "go"})
			if err != nil {
				t.Error(err)
				return
			}
			if key.Project != p.ID || key.Kind != access.KindIngest || key.DSN("https", "e.example") == "" {
				t.Errorf("project %d got key %+v", p.ID, key)
			}
			if grant, err := n.keys.ByToken(text); err != nil || grant.Project != p.ID {
				t.Errorf("the key of project %d sends for %d, %v", p.ID, grant.Project, err)
			}
			other := []node{b, a}[i%2]
			if seen, err := other.Find(t.Context(), p.Slug); err != nil || !seen.Equal(p) {
				t.Errorf("the other node finds %+v, %v, want %+v", seen, err, p)
			}
		})
	}
	makers.Wait()
	numbers, slugs := map[uint64]bool{}, map[string]bool{}
	all, err := a.List(t.Context())
	for _, p := range all {
		numbers[p.ID], slugs[p.Slug] = true, true
	}
	if err != nil || len(all) != 8 || len(numbers) != 8 || len(slugs) != 8 || !slugs["shop"] || !slugs["shop-6"] || !slugs["project-3"] {
		t.Errorf("%s (%v)", a.list(t), err)
	}
	if _, _, _, err := a.Create(t.Context(), projects.New{Name: " "}); errata.KindOf(err) != errata.KindInvalidName {
		t.Errorf("without a name: %v", err)
	}
}

// TestNumbersUsedBefore: a number that only a key has is shown, can be changed, and is
// never given to a new project.
func TestNumbersUsedBefore(t *testing.T) {
	env := testenv.NewBroker(t)
	n := newNode(t, env)
	key, _, err := n.keys.Create(t.Context(), access.NewKey{Name: "old", Kind: access.KindIngest, Project: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p, err := n.Find(t.Context(), "2"); err != nil || p.Name != "project 2" || !time.Time(p.CreatedAt).Equal(key.CreatedAt) {
		t.Errorf("%+v, %v", p, err)
	}
	if p, _, _, err := n.Create(t.Context(), projects.New{Name: "new"}); err != nil || p.ID != 3 {
		t.Errorf("the next project is %d, %v", p.ID, err)
	}
	before := facts(t, env)
	if p, err := n.Update(t.Context(), "2", projects.Patch{}); err != nil || p.Name != "project 2" || facts(t, env) != before {
		t.Errorf("a patch of nothing: %+v, %v, %d facts, want %d", p, err, facts(t, env), before)
	}
	changed, err := n.Update(t.Context(), "project-2", projects.Patch{Name: errata.Sent("Old"), Slug: errata.Sent("old")})
	if err != nil || changed.ID != 2 {
		t.Errorf("%+v, %v", changed, err)
	}
	if got := newNode(t, env).list(t); got != "1 default default|2 old Old|3 new new" {
		t.Errorf("a node that starts later lists %q", got)
	}
	if _, err := n.Update(t.Context(), "project-2", projects.Patch{}); errata.KindOf(err) != errata.KindNotFound {
		t.Errorf("the slug before: %v, want not_found", err)
	}
}

// TestSlugsStayUnique: of changes to the same slug at once, one is taken.
func TestSlugsStayUnique(t *testing.T) {
	env := testenv.NewBroker(t)
	a, b := newNode(t, env, 2, 3, 4, 5), newNode(t, env, 2, 3, 4, 5)
	var taken, refused int
	var mu sync.Mutex
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			_, err := []node{a, b}[i%2].Update(t.Context(), fmt.Sprint(i+2), projects.Patch{Slug: errata.Sent("wanted")})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				taken++
			case errata.KindOf(err) == errata.KindInvalidSlug:
				refused++
			default:
				t.Error(err)
			}
		})
	}
	writers.Wait()
	if taken != 1 || refused != 3 || strings.Count(b.list(t), " wanted ") != 1 {
		t.Errorf("%d taken, %d refused: %s", taken, refused, b.list(t))
	}
}

// TestArchivedIsKnownEverywhere: within a second on another node, without asking.
func TestArchivedIsKnownEverywhere(t *testing.T) {
	env := testenv.NewBroker(t)
	a, b := newNode(t, env, 7), newNode(t, env, 7)
	for _, archived := range []bool{true, false} {
		if _, err := a.Update(t.Context(), "7", projects.Patch{Archived: errata.Sent(archived)}); err != nil {
			t.Fatal(err)
		}
		if a.Archived(7) != archived || a.Archived(8) {
			t.Errorf("the node that changed it says %v", a.Archived(7))
		}
		late, poll := time.After(time.Second), time.NewTicker(time.Millisecond)
		for b.Archived(7) != archived {
			select {
			case <-poll.C:
			case <-late:
				t.Fatalf("after a second the other node does not say archived %v", archived)
			}
		}
		poll.Stop()
	}
}

// TestWhatReceiversKnow: receivers need some of the settings of a project. Ingest nodes get
// a copy of each project in which one of these differs from that of a new project.
func TestWhatReceiversKnow(t *testing.T) {
	n := newNode(t, testenv.NewBroker(t), 2, 3, 4, 5, 6, 7)
	rules := []projects.Rule{{Set: "crawlers", Action: "drop"}}
	limit := projects.Limit{Set: true, Max: 9}
	for number, patch := range map[string]projects.Patch{
		"2": {Name: errata.Sent("as new"), OccurrenceDays: errata.Sent(3)},
		"3": {Archived: errata.Sent(true)},
		"4": {RetentionDays: errata.Sent(90)},
		"5": {Noise: errata.Sent(rules)},
		"6": {Limits: errata.Sent(projects.LimitsPatch{EventsPerMinute: errata.Sent(limit)})},
	} {
		if _, err := n.Update(t.Context(), number, patch); err != nil {
			t.Fatalf("project %s: %v", number, err)
		}
	}
	want := map[uint64]projects.AtDoor{3: {Archived: true}, 4: {RetentionDays: 90}, 5: {Noise: rules}, 6: {EventsPerMinute: limit}}
	if diff := cmp.Diff(want, n.AtDoors(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for number := uint64(2); number <= 7; number++ {
		if diff := cmp.Diff(want[number], n.AtDoor(number), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("project %d (-want +got):\n%s", number, diff)
		}
	}
}

// TestWithoutTheLog: the error says what to do, and leaves no half-made project behind.
func TestWithoutTheLog(t *testing.T) {
	env := testenv.NewBroker(t)
	n := newNode(t, env)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := n.List(ctx); errata.KindOf(err) != errata.KindLogUnavailable {
		t.Errorf("list: %v", err)
	}
	if _, _, _, err := n.Create(ctx, projects.New{Name: "x"}); errata.KindOf(err) != errata.KindLogUnavailable {
		t.Errorf("create: %v", err)
	}
	if got := n.list(t); got != "" {
		t.Errorf("lists %q", got)
	}
}
