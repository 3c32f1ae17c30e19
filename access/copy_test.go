package access_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/access"
)

// A copy has the keys that send events and read metrics, and no others. It
// follows their changes: keys that are revoked or removed later end in the copy
// as well.
func TestCopyKeys(t *testing.T) {
	now := newClock()
	store, from := openStore(t, access.Config{Now: now.Now})
	to, _ := newMortalBucket(t)
	shop, shopText := create(t, store, access.NewKey{Name: "shop", Kind: access.KindIngest})
	_, adminText := create(t, store, access.NewKey{Name: "admin", Kind: access.KindAdmin, Scopes: []access.Scope{access.Everything}})
	if _, err := to.PutString(t.Context(), "key.00000000000z", "left from before"); err != nil {
		t.Fatal(err)
	}
	if copied, err := access.Copied(t.Context(), to); err != nil || copied {
		t.Errorf("copied before it began: %v, %v", copied, err)
	}
	stop := copyKeys(t, from, to)
	copies, _ := openStore(t, access.Config{Bucket: to})
	works := func(text string) bool { _, err := copies.Authenticate(text); return err == nil }
	eventually(t, copies, 10*time.Second, "the ingest key is copied", func() bool { return works(shopText) })
	now.Move(time.Second) // the list is ordered by age
	_, laterText := create(t, store, access.NewKey{Name: "metrics", Kind: access.KindOps, Scopes: []access.Scope{access.OpsRead}})
	eventually(t, copies, 10*time.Second, "a later key is copied", func() bool { return works(laterText) })
	if works(adminText) {
		t.Error("the admin key is copied")
	}
	if copied, err := access.Copied(t.Context(), to); err != nil || !copied {
		t.Errorf("copied: %v, %v", copied, err)
	}
	stop()

	if err := store.Revoke(t.Context(), shop.ID); err != nil {
		t.Fatal(err)
	}
	if !works(shopText) {
		t.Error("a key was revoked on the copy that nobody keeps up to date")
	}
	stop = copyKeys(t, from, to)
	eventually(t, copies, 10*time.Second, "the key is revoked on the copy", func() bool { return !works(shopText) })
	stop()
	var names []string
	for _, key := range copies.List() {
		names = append(names, key.Name)
	}
	if diff := cmp.Diff([]string{"shop", "metrics"}, names); diff != "" {
		t.Error(diff)
	}
	if _, err := to.Get(t.Context(), "key.00000000000z"); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("what was left from before: %v", err)
	}
}

// TestCopySettings: a copy has the settings of the projects that it was told last, also
// when it starts later.
func TestCopySettings(t *testing.T) {
	to, _ := newMortalBucket(t)
	copies, _ := openStore(t, access.Config{Bucket: to})
	tell := func(settings map[uint64]string) {
		t.Helper()
		values := map[uint64][]byte{}
		for project, text := range settings {
			values[project] = []byte(text)
		}
		if err := access.CopySettings(t.Context(), values, to); err != nil {
			t.Fatal(err)
		}
	}
	has := func(s *access.Store, want string) bool {
		var got []string
		for project := range uint64(7) {
			got = append(got, string(s.Settings(project)))
		}
		return strings.Join(got, ",") == want
	}
	if !has(copies, ",,,,,,") {
		t.Error("settings before anybody told them")
	}
	tell(map[uint64]string{2: "a", 5: "b"})
	eventually(t, copies, 10*time.Second, "2 and 5", func() bool { return has(copies, ",,a,,,b,") })
	if late, _ := openStore(t, access.Config{Bucket: to}); !has(late, ",,a,,,b,") {
		t.Error("a node that starts later does not know them")
	}
	tell(map[uint64]string{5: "c", 6: "d"})
	eventually(t, copies, 10*time.Second, "5 is another, 2 is gone", func() bool { return has(copies, ",,,,,c,d") })
	before, err := to.Get(t.Context(), "settings.6")
	if err != nil {
		t.Fatal(err)
	}
	tell(map[uint64]string{5: "e", 6: "d"})
	if after, err := to.Get(t.Context(), "settings.6"); err != nil || after.Revision() != before.Revision() {
		t.Errorf("what did not change was written again: %v", err)
	}
	tell(nil)
	eventually(t, copies, 10*time.Second, "none", func() bool { return has(copies, ",,,,,,") })
}

// copyKeys copies until the returned function is called.
func copyKeys(t *testing.T, from, to jetstream.KeyValue) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- access.CopyKeys(ctx, from, to) }()
	return func() {
		cancel()
		if err := <-done; err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	}
}
