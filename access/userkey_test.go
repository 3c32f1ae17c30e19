package access_test

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"github.com/errata-log/errata/access"
)

// TestUserKey: all nodes have the same key, also those that start at once and later.
func TestUserKey(t *testing.T) {
	a, bucket := openStore(t, access.Config{})
	b, _ := openStore(t, access.Config{Bucket: bucket})
	if a.UserKey() != nil {
		t.Errorf("a key that nobody made: %x", a.UserKey())
	}
	var both sync.WaitGroup
	for _, s := range []*access.Store{a, b} {
		both.Go(func() {
			if err := s.MakeUserKey(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	for _, s := range []*access.Store{a, b} {
		eventually(t, s, 10*time.Second, "the key is known", func() bool { return s.UserKey() != nil })
	}
	key := a.UserKey()
	if len(key) != access.UserKeySize || !bytes.Equal(key, b.UserKey()) {
		t.Errorf("%x and %x", key, b.UserKey())
	}
	if err := b.MakeUserKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	later, _ := openStore(t, access.Config{Bucket: bucket})
	if !bytes.Equal(key, later.UserKey()) {
		t.Errorf("a node that starts later has %x, want %x", later.UserKey(), key)
	}
}

// TestUserKeyThatIsNone: what another program writes does not replace the key, and nothing
// fails where it is all that is there.
func TestUserKeyThatIsNone(t *testing.T) {
	a, bucket := openStore(t, access.Config{})
	if err := a.MakeUserKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	key := a.UserKey()
	for _, text := range []string{"", `"ab"`, `{}`, `"` + string(bytes.Repeat([]byte("x"), 64)) + `"`} {
		if _, err := bucket.PutString(t.Context(), "hash.users", text); err != nil {
			t.Fatal(err)
		}
	}
	create(t, a, access.NewKey{Name: "later", Kind: access.KindIngest}) // it is known: so are the entries before it
	if !bytes.Equal(key, a.UserKey()) {
		t.Errorf("%x, want %x", a.UserKey(), key)
	}
	later, _ := openStore(t, access.Config{Bucket: bucket})
	if later.UserKey() != nil || later.MakeUserKey(t.Context()) != nil {
		t.Errorf("%x", later.UserKey())
	}
}

// TestCopyUserKey: an ingest node hashes as its hub does.
func TestCopyUserKey(t *testing.T) {
	hub, from := openStore(t, access.Config{})
	to, _ := newMortalBucket(t)
	node, _ := openStore(t, access.Config{Bucket: to})
	if copied, err := access.CopyUserKey(t.Context(), from, to); copied || err != nil {
		t.Errorf("copied: %t, %v", copied, err)
	}
	if err := hub.MakeUserKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	if copied, err := access.CopyUserKey(t.Context(), from, to); !copied || err != nil {
		t.Errorf("copied: %t, %v", copied, err)
	}
	eventually(t, node, 10*time.Second, "the node has the key", func() bool { return bytes.Equal(node.UserKey(), hub.UserKey()) })
}
