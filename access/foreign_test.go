package access_test

import (
	"sync"
	"testing"
	"time"

	"github.com/errata-log/errata/access"
)

// acknowledgement is the answer of JetStream to a publisher. It is foreign in
// the place of a key.
const acknowledgement = `{"stream":"ERRORS","seq":1}`

// A key whose entry is overwritten by a foreign message goes on working: on
// nodes that run, on nodes that start, and in copies. It can be revoked.
//
// long: the life of one key.
func TestForeignEntriesEndNoKey(t *testing.T) {
	store, bucket := openStore(t, access.Config{})
	shop, text := create(t, store, access.NewKey{Name: "shop", Kind: access.KindIngest})
	ended, endedText := create(t, store, access.NewKey{Name: "ended", Kind: access.KindIngest})
	if err := store.Revoke(t.Context(), ended.ID); err != nil {
		t.Fatal(err)
	}
	foreign := map[uint64]bool{}
	for _, name := range []string{"key." + shop.ID, "key." + shop.ID, "key." + ended.ID, "key.00000000000z", "used." + shop.ID, "else"} {
		revision, err := bucket.PutString(t.Context(), name, acknowledgement)
		if err != nil {
			t.Fatal(err)
		}
		if name[:4] == "key." {
			foreign[revision] = true
		}
	}
	var mu sync.Mutex
	skipped := map[uint64]bool{}
	late, _ := openStore(t, access.Config{Bucket: bucket, Skipped: func(revision uint64, why error) {
		mu.Lock()
		defer mu.Unlock()
		skipped[revision] = why != nil
	}})
	// A later key shows that the nodes have read past the foreign entries.
	_, mark := create(t, store, access.NewKey{Name: "mark", Kind: access.KindIngest})
	for name, node := range map[string]*access.Store{"a node that ran": store, "a node that starts": late} {
		eventually(t, node, 10*time.Second, "the mark is known", func() bool { _, err := node.Authenticate(mark); return err == nil })
		if _, err := node.Authenticate(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := node.Authenticate(endedText); err == nil {
			t.Errorf("%s: a revoked key works again", name)
		}
		if n := len(node.List()); n != 3 {
			t.Errorf("%s has %d keys, want 3", name, n)
		}
	}
	mu.Lock()
	newest := 0
	for revision := range skipped {
		if !foreign[revision] {
			t.Errorf("revision %d is counted as foreign", revision)
		}
		newest++
	}
	mu.Unlock()
	if newest != 3 { // of each entry the newest is read
		t.Errorf("%d are counted, want 3", newest)
	}

	to, _ := newMortalBucket(t)
	stop := copyKeys(t, bucket, to)
	copies, _ := openStore(t, access.Config{Bucket: to})
	works := func() bool { _, err := copies.Authenticate(text); return err == nil }
	eventually(t, copies, 10*time.Second, "the key is copied", works)
	if _, err := bucket.PutString(t.Context(), "key."+shop.ID, acknowledgement); err != nil {
		t.Fatal(err)
	}
	_, mark = create(t, store, access.NewKey{Name: "mark 2", Kind: access.KindIngest})
	eventually(t, copies, 10*time.Second, "the mark is copied", func() bool { _, err := copies.Authenticate(mark); return err == nil })
	if !works() {
		t.Error("the copy of the key is gone")
	}
	if err := store.Revoke(t.Context(), shop.ID); err != nil {
		t.Fatal(err)
	}
	eventually(t, copies, 10*time.Second, "the key is revoked on the copy", func() bool { return !works() })
	eventually(t, late, 10*time.Second, "the key is revoked", func() bool { _, err := late.Authenticate(text); return err != nil })
	stop()
}
