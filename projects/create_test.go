package projects_test

import (
	"context"
	"strings"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/projects"
	"github.com/errata-log/errata/test/testenv"
)

// cutShort are keys of which the next ones cannot be made.
type cutShort struct {
	*access.Store
	cuts int
}

func (k *cutShort) Create(ctx context.Context, n access.NewKey) (access.Key, string, error) {
	if k.cuts > 0 {
		k.cuts--
		return access.Key{}, "", errata.Errorf(errata.KindLogUnavailable, "The store of API keys does not answer; try again shortly.")
	}
	return k.Store.Create(ctx, n)
}

// createCut makes a project on a node that ends before it has made the key.
func createCut(t *testing.T, env *testenv.Broker, n projects.New) {
	t.Helper()
	crashed := newStores(t, env)
	crashed.serve(t, projects.Config{Keys: &cutShort{Store: crashed.keys, cuts: 1}})
	if _, _, _, err := crashed.Create(t.Context(), n); errata.KindOf(err) != errata.KindLogUnavailable || !strings.Contains(err.Error(), "again") {
		t.Fatalf("%v, want log_unavailable that says what to do", err)
	}
}

// wantOne fails unless the node makes the project with the number, whose one key works.
func wantOne(t *testing.T, n node, wanted projects.New, number uint64) {
	t.Helper()
	p, key, text, err := n.Create(t.Context(), wanted)
	if err != nil || p.ID != number || p.Name != wanted.Name || key.Project != number {
		t.Errorf("project %d %q, key of %d, %v; want number %d", p.ID, p.Name, key.Project, err, number)
	}
	if grant, err := n.keys.ByToken(text); err != nil || grant.Project != number {
		t.Errorf("the key sends for %d, %v", grant.Project, err)
	}
	made := 0
	for _, key := range n.keys.List() {
		if key.Project == number {
			made++
		}
	}
	if made != 1 {
		t.Errorf("project %d has %d keys", number, made)
	}
}

// TestCreateAgainAfterAnError: a call that could not make the key is sent again, and there
// is one project with one key; the call after that makes another project.
func TestCreateAgainAfterAnError(t *testing.T) {
	env := testenv.NewBroker(t)
	n := newStores(t, env)
	n.serve(t, projects.Config{Keys: &cutShort{Store: n.keys, cuts: 2}})
	if err := n.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	shop := projects.New{Name: "Shop", Platform: "go"}
	for range 2 {
		if p, _, _, err := n.Create(t.Context(), shop); errata.KindOf(err) != errata.KindLogUnavailable || p.ID != 2 {
			t.Fatalf("project %d, %v", p.ID, err)
		}
	}
	wantOne(t, n, shop, 2)
	wantOne(t, n, shop, 3)
	if got := newNode(t, env).list(t); got != "1 default default|2 shop Shop|3 shop-2 Shop" {
		t.Errorf("lists %q", got)
	}
}

// TestCreateAgainAfterACrash: the same for a process that ended before it made the key.
// Nobody else's project is taken for the lost one.
func TestCreateAgainAfterACrash(t *testing.T) {
	env := testenv.NewBroker(t)
	shop := projects.New{Name: "Shop", Platform: "go"}
	if err := newNode(t, env).Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	createCut(t, env, shop)
	createCut(t, env, projects.New{Name: "Old", Platform: "go"})
	n := newStores(t, env)
	n.serve(t, projects.Config{Keys: n.keys, Numbers: []uint64{9}, Now: func() time.Time { return time.Now().Add(time.Minute) }})
	for number, patch := range map[string]projects.Patch{"3": {Archived: errata.Sent(true)}, "9": {Name: errata.Sent("Queue")}} {
		if _, err := n.Update(t.Context(), number, patch); err != nil {
			t.Fatal(err)
		}
	}
	wantOne(t, n, projects.New{Name: "Shop", Platform: "php"}, 4)
	wantOne(t, n, projects.New{Name: "Old", Platform: "go"}, 5) // the other is archived
	wantOne(t, n, projects.New{Name: "Queue"}, 6)               // the other is that of events without a key
	wantOne(t, n, projects.New{Name: "default"}, 7)             // the first start makes the key of the other
	wantOne(t, n, shop, 2)
	wantOne(t, n, shop, 8)
}

// slowNode are the keys of a node on which a key of another one comes while it waits.
type slowNode struct {
	*access.Store
	comes func()
}

func (k *slowNode) Changed() <-chan struct{} {
	changed := k.Store.Changed()
	if comes := k.comes; comes != nil {
		k.comes = nil
		comes()
	}
	return changed
}

// TestCreateWaitsForAnotherNode: a young project may get its key from the node that made
// it. When it does, the call makes another one; when it does not, it takes that one.
func TestCreateWaitsForAnotherNode(t *testing.T) {
	projects.SetMaking(t, 100*time.Millisecond)
	env := testenv.NewBroker(t)
	if err := newNode(t, env).Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	stopped := time.Now() // by this clock every project stays young
	shop, desk := projects.New{Name: "Shop"}, projects.New{Name: "Desk"}
	other, n := newStores(t, env), newStores(t, env)
	createCut(t, env, shop)
	n.serve(t, projects.Config{Now: func() time.Time { return stopped }, Keys: &slowNode{n.keys, func() {
		if _, _, err := other.keys.Create(t.Context(), access.NewKey{Name: "Shop", Kind: access.KindIngest, Project: 2}); err != nil {
			t.Error(err)
		}
	}}})
	wantOne(t, n, shop, 3)
	createCut(t, env, desk)
	wantOne(t, n, desk, 4)
}
