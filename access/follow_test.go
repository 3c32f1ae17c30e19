package access_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
)

func TestRevocationReachesEveryNode(t *testing.T) {
	bucket := newBucket(t)
	a, _ := openStore(t, access.Config{Bucket: bucket})
	b, _ := openStore(t, access.Config{Bucket: bucket})
	key, text := create(t, a, access.NewKey{Name: "shop", Kind: access.KindIngest})
	works := func() bool {
		_, secret := b.Authenticate(text)
		_, public := b.AuthenticatePublic(key.PublicKey, key.Project)
		return secret == nil && public == nil
	}
	eventually(t, b, time.Second, "known on the other node", works)
	begun := time.Now()
	if err := a.Revoke(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Authenticate(text); err == nil {
		t.Error("the node that revoked the key still takes it")
	}
	eventually(t, b, time.Second-time.Since(begun), "revoked on the other node", func() bool {
		_, err := b.Authenticate(text)
		_, publicErr := b.AuthenticatePublic(key.PublicKey, key.Project)
		return err != nil && publicErr != nil
	})
	t.Logf("revoked on the other node after %v", time.Since(begun))
}

func TestUseIsNotedOnceAMinute(t *testing.T) {
	now := newClock()
	store, bucket := openStore(t, access.Config{Now: now.Now})
	key, text := create(t, store, access.NewKey{Name: "x", Kind: access.KindIngest})
	w, err := bucket.Watch(t.Context(), "used."+key.ID, jetstream.UpdatesOnly())
	if err != nil {
		t.Fatal(err)
	}
	var noted []string
	for _, step := range []time.Duration{0, 30 * time.Second, 29 * time.Second, time.Second, 10 * time.Second, 60 * time.Second} {
		now.Move(step)
		due := now.Now().Sub(start) == 0 || now.Now().Sub(start) == time.Minute || now.Now().Sub(start) == 130*time.Second
		for range 3 {
			if _, err := store.Authenticate(text); err != nil {
				t.Fatal(err)
			}
		}
		if due { // the next use is noted only after this one
			e := <-w.Updates()
			noted = append(noted, string(e.Value()))
		}
	}
	want := []string{"2026-11-21T03:58:25.123Z", "2026-11-21T03:59:25.123Z", "2026-11-21T04:00:35.123Z"}
	if diff := cmp.Diff(want, noted); diff != "" {
		t.Errorf("noted (-want +got):\n%s", diff)
	}
	reopened, _ := openStore(t, access.Config{Bucket: bucket})
	if got := reopened.List()[0].LastUsedAt; !got.Equal(start.Add(130 * time.Second)) {
		t.Errorf("after a restart: last used %v", got)
	}
	history, err := bucket.History(t.Context(), "used."+key.ID)
	if err != nil || len(history) != len(want) {
		t.Errorf("notes in the bucket: got %d, %v, want %d", len(history), err, len(want))
	}
	if err := w.Stop(); err != nil {
		t.Error(err)
	}
}

func TestLastCopyStaysInForce(t *testing.T) {
	bucket, ns := newMortalBucket(t)
	store, _ := openStore(t, access.Config{Bucket: bucket})
	key, text := create(t, store, access.NewKey{Name: "x", Kind: access.KindIngest})
	ns.Shutdown()
	ns.WaitForShutdown()
	if got, err := store.Authenticate(text); err != nil || got.ID != key.ID {
		t.Errorf("without the bucket: got %+v, %v", got, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, _, err := store.Create(ctx, access.NewKey{Name: "y", Kind: access.KindIngest}); errata.KindOf(err) != errata.KindLogUnavailable {
		t.Errorf("create without the bucket: got %v, want log_unavailable", err)
	}
	if err := store.Revoke(ctx, key.ID); errata.KindOf(err) != errata.KindLogUnavailable {
		t.Errorf("revoke without the bucket: got %v, want log_unavailable", err)
	}
	store.Close()
	store.Close() // twice without harm
	if _, err := store.Authenticate(text); err != nil {
		t.Errorf("after Close: %v", err)
	}
}

// severable is a bucket whose watches can be cut.
type severable struct {
	jetstream.KeyValue
	mu      sync.Mutex
	watches []jetstream.KeyWatcher
}

func (s *severable) WatchAll(ctx context.Context, opts ...jetstream.WatchOpt) (jetstream.KeyWatcher, error) {
	w, err := s.KeyValue.WatchAll(ctx, opts...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches = append(s.watches, w)
	return w, err
}

func (s *severable) cut(t *testing.T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.watches[len(s.watches)-1].Stop(); err != nil {
		t.Fatal(err)
	}
}

func TestLostWatchIsSetUpAgain(t *testing.T) {
	bucket := newBucket(t)
	cuttable := &severable{KeyValue: bucket}
	a, _ := openStore(t, access.Config{Bucket: cuttable})
	b, _ := openStore(t, access.Config{Bucket: bucket})
	_, keptText := create(t, a, access.NewKey{Name: "kept", Kind: access.KindIngest})
	revoked, revokedText := create(t, a, access.NewKey{Name: "revoked meanwhile", Kind: access.KindIngest})
	removed, removedText := create(t, a, access.NewKey{Name: "removed meanwhile", Kind: access.KindIngest})
	changed := a.Changed()
	cuttable.cut(t)
	if err := b.Revoke(t.Context(), revoked.ID); err != nil {
		t.Fatal(err)
	}
	if err := bucket.Purge(t.Context(), "key."+removed.ID); err != nil {
		t.Fatal(err)
	}
	if err := bucket.PurgeDeletes(t.Context(), jetstream.DeleteMarkersOlderThan(-1)); err != nil {
		t.Fatal(err)
	}
	_, newText := create(t, b, access.NewKey{Name: "made meanwhile", Kind: access.KindIngest})
	select {
	case <-changed:
	case <-time.After(10 * time.Second):
		t.Fatal("the watch was not set up again")
	}
	for name, c := range map[string]struct {
		text  string
		works bool
	}{"kept": {keptText, true}, "made": {newText, true}, "revoked": {revokedText, false}, "removed": {removedText, false}} {
		if _, err := a.Authenticate(c.text); (err == nil) != c.works {
			t.Errorf("key %s meanwhile: got %v, want it to work: %v", name, err, c.works)
		}
	}
}

func TestUnreadableKeyIsRefused(t *testing.T) {
	bucket := newBucket(t)
	var logged strings.Builder
	var mu sync.Mutex
	store, _ := openStore(t, access.Config{
		Bucket: bucket,
		Logger: slog.New(slog.NewJSONHandler(lockedWriter{&mu, &logged}, nil)),
	})
	key, text := create(t, store, access.NewKey{Name: "x", Kind: access.KindIngest})
	stored, err := bucket.Get(t.Context(), "key."+key.ID)
	if err != nil {
		t.Fatal(err)
	}
	good := string(stored.Value())
	for name, value := range map[string]string{
		"not JSON":        good[:len(good)/2],
		"newer version":   strings.Replace(good, `"v":1`, `"v":2`, 1),
		"other id":        strings.Replace(good, key.ID, "000000000000", 1),
		"damaged hash":    strings.Replace(good, `"sha256":"`, `"sha256":"zz`, 1),
		"unknown kind":    strings.Replace(good, `"kind":"ing"`, `"kind":"god"`, 1),
		"without project": strings.Replace(good, `"project":1,`, ``, 1),
	} {
		if value == good {
			t.Fatalf("%s: the record was not changed: %s", name, good)
		}
		for _, put := range []struct {
			value string
			works bool
		}{{value, false}, {good, true}} {
			if _, err := bucket.PutString(t.Context(), "key."+key.ID, put.value); err != nil {
				t.Fatal(err)
			}
			eventually(t, store, 5*time.Second, name+" taken in", func() bool {
				_, err := store.Authenticate(text)
				_, publicErr := store.AuthenticatePublic(key.PublicKey, 1)
				return (err == nil) == put.works && (publicErr == nil) == put.works
			})
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if out := logged.String(); !strings.Contains(out, key.ID) || strings.Contains(out, text) {
		t.Errorf("log must name the id and never the key:\n%s", out)
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	w  *strings.Builder
}

func (l lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func TestOpenNamesWhatIsWrong(t *testing.T) {
	if _, err := access.Open(t.Context(), access.Config{}); err == nil || !strings.Contains(err.Error(), "Bucket") {
		t.Errorf("no bucket: got %v", err)
	}
	bucket, ns := newMortalBucket(t)
	ns.Shutdown()
	ns.WaitForShutdown()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if store, err := access.Open(ctx, access.Config{Bucket: bucket}); err == nil {
		store.Close()
		t.Error("opened on a bucket that does not answer")
	}
}
