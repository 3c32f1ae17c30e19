package access_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/engine"
)

// keyFolder is a NATS folder with a bucket of keys and the file of their copies.
type keyFolder struct{ nats, copies string }

// open starts the server, mends the keys and opens them.
func (f keyFolder) open(t *testing.T, do func(*access.Store)) access.Mended {
	t.Helper()
	n, err := engine.StartNATS(t.Context(), engine.NATSConfig{StoreDir: f.nats, MaxStore: 64 << 20, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	bucket, err := n.JetStream().CreateOrUpdateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "keys", History: 8})
	if err != nil {
		t.Fatal(err)
	}
	mended, err := access.Mend(t.Context(), n.JetStream(), "keys", f.copies)
	if err != nil {
		t.Fatal(err)
	}
	store, err := access.Open(t.Context(), access.Config{Bucket: bucket, CopyFile: f.copies})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	do(store)
	f.awaitCopies(t, store)
	return mended
}

// awaitCopies returns when the file has all keys as they are.
func (f keyFolder) awaitCopies(t *testing.T, store *access.Store) {
	t.Helper()
	late := time.After(10 * time.Second)
	for {
		text, err := os.ReadFile(f.copies)
		whole := err == nil
		for _, key := range store.List() {
			whole = whole && bytes.Contains(text, []byte(`"key.`+key.ID+`"`)) &&
				(key.RevokedAt.IsZero() || bytes.Contains(text, []byte(`"revoked"`)))
		}
		if whole {
			return
		}
		select {
		case <-time.After(time.Millisecond):
		case <-late:
			t.Fatalf("after 10 s the copies are %s, error %v", text, err)
		}
	}
}

// blocks are the paths of the files of the bucket, in the order in which they were begun.
func (f keyFolder) blocks(t *testing.T) []string {
	t.Helper()
	blocks, err := filepath.Glob(filepath.Join(f.nats, "jetstream", "$G", "streams", "KV_keys", "msgs", "*.blk"))
	if err != nil || len(blocks) == 0 {
		t.Fatalf("there is no block of the bucket (%v)", err)
	}
	slices.Sort(blocks)
	return blocks
}

// awaitNote waits until the disk has the note that a key was used. The list of the keys
// shows the use earlier.
func (f keyFolder) awaitNote(t *testing.T) {
	t.Helper()
	late := time.After(10 * time.Second)
	for {
		for _, path := range f.blocks(t) {
			if block, err := os.ReadFile(path); err == nil && bytes.Contains(block, []byte("$KV.keys.used.")) {
				return
			}
		}
		select {
		case <-time.After(time.Millisecond):
		case <-late:
			t.Fatal("after 10 s there is no note that the key was used")
		}
	}
}

// flip changes a bit of the first or the last place in the bucket where the
// text stands.
func (f keyFolder) flip(t *testing.T, text string, last bool) {
	t.Helper()
	for _, path := range f.blocks(t) {
		block, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.Index(block, []byte(text))
		if last {
			at = bytes.LastIndex(block, []byte(text))
		}
		if at < 0 {
			continue
		}
		block[at] ^= 1
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, block, 0o600); err != nil {
			t.Fatal(err)
		}
		// The file keeps its time, as on a disk that loses a bit. The check of
		// the files would read a newer file and remove the message.
		if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("none of %v holds %q", f.blocks(t), text)
}

// cut takes the last bytes away, which are of the note when a key was used last.
func (f keyFolder) cut(t *testing.T) {
	t.Helper()
	blocks := f.blocks(t)
	path := blocks[len(blocks)-1]
	info, err := os.Stat(path)
	if err == nil {
		err = os.Truncate(path, info.Size()-5)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestMendKeys(t *testing.T) {
	f := keyFolder{nats: filepath.Join(t.TempDir(), "nats"), copies: filepath.Join(t.TempDir(), "keys.copy")}
	var good, revoked access.Key
	var goodText, revokedText string
	if mended := f.open(t, func(s *access.Store) {
		var err error
		if good, goodText, err = s.Create(t.Context(), access.NewKey{Kind: access.KindAdmin, Name: "good", Scopes: []access.Scope{access.Everything}}); err != nil {
			t.Fatal(err)
		}
		if revoked, revokedText, err = s.Create(t.Context(), access.NewKey{Kind: access.KindAdmin, Name: "revoked", Scopes: []access.Scope{access.Everything}}); err != nil {
			t.Fatal(err)
		}
		if err = s.Revoke(t.Context(), revoked.ID); err != nil {
			t.Fatal(err)
		}
	}); len(mended.Damaged) != 0 {
		t.Fatalf("mended at the first start: %+v", mended)
	}
	expect := func(s *access.Store) {
		t.Helper()
		if _, err := s.Authenticate(goodText); err != nil {
			t.Errorf("the good key: %v", err)
		}
		if _, err := s.Authenticate(revokedText); err == nil {
			t.Error("the key that was revoked works")
		}
	}
	for what, damage := range map[string]func(){
		"the key":         func() { f.flip(t, `"good"`, true) },
		"the revocation":  func() { f.flip(t, `"revoked":"`, true) },
		"its first state": func() { f.flip(t, `"name":"revoked"`, false) },
	} {
		damage()
		mended := f.open(t, expect)
		if len(mended.Damaged) == 0 && mended.History == 0 {
			t.Errorf("%s was damaged and nothing was mended", what)
		}
		if len(mended.Lost) != 0 {
			t.Errorf("%s: %v are lost", what, mended.Lost)
		}
		if again := f.open(t, expect); len(again.Damaged) != 0 || again.History != 0 {
			t.Errorf("%s: mended again: %+v", what, again)
		}
	}
	if err := os.Remove(f.copies); err != nil {
		t.Fatal(err)
	}
	f.flip(t, `"good"`, true)
	mended := f.open(t, func(*access.Store) {})
	if !slices.Equal(mended.Lost, []string{"key." + good.ID}) {
		t.Errorf("without a copy %v are lost, want the key %s", mended.Lost, good.ID)
	}
}

// The note when a key was used last is gone with the end of the file: no key is
// missing, and it is told all the same.
func TestMendTellsThatTheEndIsGone(t *testing.T) {
	f := keyFolder{nats: filepath.Join(t.TempDir(), "nats"), copies: filepath.Join(t.TempDir(), "keys.copy")}
	f.open(t, func(s *access.Store) {
		_, text, err := s.Create(t.Context(), access.NewKey{Kind: access.KindAdmin, Name: "used", Scopes: []access.Scope{access.Everything}})
		if err == nil {
			_, err = s.Authenticate(text)
		}
		if err != nil {
			t.Fatal(err)
		}
		f.awaitNote(t)
	})
	f.cut(t)
	if mended := f.open(t, func(*access.Store) {}); mended.History == 0 || len(mended.Lost) != 0 {
		t.Errorf("the end of the file is gone, and this is told: %+v", mended)
	}
	if again := f.open(t, func(*access.Store) {}); again.History != 0 || len(again.Damaged) != 0 {
		t.Errorf("told again: %+v", again)
	}
}
