package access_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, 11, 21, 3, 58, 25, 123e6, time.UTC)

// clock is a clock that stands until it is moved.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: start} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// newBucket starts a JetStream server of the test's own and makes a bucket.
func newBucket(t testing.TB) (jetstream.KeyValue, *server.Server) {
	t.Helper()
	ns, err := server.NewServer(&server.Options{
		DontListen: true, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	ns.Start()
	t.Cleanup(func() {
		ns.Shutdown()
		ns.WaitForShutdown()
	})
	if !ns.ReadyForConnections(10 * time.Second) {
		t.Fatal("nats-server is not ready after 10 s")
	}
	nc, err := nats.Connect("", nats.InProcessServer(ns))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "keys", History: 8})
	if err != nil {
		t.Fatal(err)
	}
	return bucket, ns
}

// openStore opens a store, on a bucket of its own unless cfg names one, with a
// clock that stands still unless cfg brings one.
func openStore(t testing.TB, cfg access.Config) (*access.Store, jetstream.KeyValue) {
	t.Helper()
	if cfg.Bucket == nil {
		cfg.Bucket, _ = newBucket(t)
	}
	if cfg.Now == nil {
		cfg.Now = newClock().Now
	}
	store, err := access.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store, cfg.Bucket
}

func create(t testing.TB, store *access.Store, key access.NewKey) (access.Key, string) {
	t.Helper()
	made, text, err := store.Create(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return made, text
}

// eventually waits for the watch of store until ok.
func eventually(t testing.TB, store *access.Store, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	late := time.After(limit)
	for {
		changed := store.Changed()
		if ok() {
			return
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("after %v: not %s", limit, what)
		}
	}
}

func TestCreateAndAuthenticate(t *testing.T) {
	store, _ := openStore(t, access.Config{Random: &counting{}})
	made, text := create(t, store, access.NewKey{
		Name: "  deploy ", Kind: access.KindAdmin,
		Scopes: []access.Scope{"Tools/*", access.KeysManage, "Tools/*"},
	})
	want := access.Key{
		ID: "0123456789ab", Kind: access.KindAdmin, Name: "deploy",
		Scopes:    []access.Scope{"Tools/*", access.KeysManage},
		CreatedAt: start, ExpiresAt: start.Add(365 * 24 * time.Hour),
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("made (-want +got):\n%s", diff)
	}
	if text != goldenText {
		t.Errorf("text: got %s, want %s", text, goldenText)
	}
	got, err := store.Authenticate(text)
	if err != nil {
		t.Fatal(err)
	}
	want.LastUsedAt = start
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("authenticated (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]access.Key{want}, store.List()); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

func TestBucketHoldsNoSecret(t *testing.T) {
	store, bucket := openStore(t, access.Config{})
	made, text := create(t, store, access.NewKey{Name: "app", Kind: access.KindIngest})
	stored, err := bucket.Get(t.Context(), "key."+made.ID)
	if err != nil {
		t.Fatal(err)
	}
	token, err := access.ParseToken(text)
	if err != nil {
		t.Fatal(err)
	}
	if value := string(stored.Value()); strings.Contains(value, token.Secret) || strings.Contains(value, text) {
		t.Errorf("the bucket holds the secret: %s", value)
	}
}

func TestAuthenticateRefusesAllAlike(t *testing.T) {
	now := newClock()
	store, _ := openStore(t, access.Config{Now: now.Now})
	everything := []access.Scope{access.Everything}
	good, goodText := create(t, store, access.NewKey{Name: "good", Kind: access.KindAdmin, Scopes: everything, NeverExpires: true})
	revoked, revokedText := create(t, store, access.NewKey{Name: "revoked", Kind: access.KindAdmin, Scopes: everything})
	_, expiredText := create(t, store, access.NewKey{Name: "expired", Kind: access.KindAdmin, Scopes: everything, ExpiresAt: start.Add(time.Hour)})
	if _, err := store.Authenticate(expiredText); err != nil {
		t.Fatalf("before it expires: %v", err)
	}
	now.Move(time.Hour)
	if err := store.Revoke(t.Context(), revoked.ID); err != nil {
		t.Fatal(err)
	}
	goodToken, err := access.ParseToken(goodText)
	if err != nil {
		t.Fatal(err)
	}
	otherSecret, otherKind := goodToken, goodToken
	otherSecret.Secret = strings.Repeat("7", len(goodToken.Secret))
	otherKind.Kind = access.KindOps
	unknown := mint(t, access.KindAdmin)
	_, want := store.Authenticate("")
	if errata.KindOf(want) != errata.KindUnauthorized {
		t.Fatalf("no key: got %v, want unauthorized", want)
	}
	for name, text := range map[string]string{
		"unknown": unknown.Text(), "expired": expiredText, "revoked": revokedText,
		"wrong secret": otherSecret.Text(), "other kind": otherKind.Text(),
		"mistyped": goodText[:len(goodText)-1] + "!", "id alone": good.ID, "public key": good.PublicKey,
	} {
		if key, err := store.Authenticate(text); err != want || !cmp.Equal(key, access.Key{}) {
			t.Errorf("%s: got %+v, %v, want exactly %v", name, key, err, want)
		}
	}
	now.Move(100 * 365 * 24 * time.Hour)
	if _, err := store.Authenticate(goodText); err != nil {
		t.Errorf("a key that never expires, a century later: %v", err)
	}
}

func TestAuthenticatePublic(t *testing.T) {
	now := newClock()
	store, _ := openStore(t, access.Config{Now: now.Now, Random: &counting{}})
	made, text := create(t, store, access.NewKey{Name: "shop", Kind: access.KindIngest, ExpiresAt: start.Add(time.Hour)})
	// Computed with another implementation of SHA-256.
	const public = "dd1632703d6b6b347045dd317c2fed58"
	if made.PublicKey != public || made.Project != 1 {
		t.Errorf("made: public key %s project %d, want %s and 1", made.PublicKey, made.Project, public)
	}
	if got, want := made.DSN("https", "errata.example:8443/e/"), "https://"+public+"@errata.example:8443/e/1"; got != want {
		t.Errorf("DSN: got %s, want %s", got, want)
	}
	got, err := store.AuthenticatePublic(public, 1)
	if err != nil || got.ID != made.ID || !got.Allows(access.EventsWrite) {
		t.Errorf("public key: got %+v, %v", got, err)
	}
	if got, err := store.Authenticate(text); err != nil || got.ID != made.ID {
		t.Errorf("the ingest key itself: got %+v, %v", got, err)
	}
	_, want := store.Authenticate("")
	for name, c := range map[string]struct {
		public  string
		project uint64
	}{
		"foreign project": {public, 2}, "no project": {public, 0},
		"unknown":    {strings.Repeat("0", 32), 1},
		"empty":      {"", 0},
		"too short":  {public[:31], 1},
		"upper case": {strings.ToUpper(public), 1},
	} {
		if key, err := store.AuthenticatePublic(c.public, c.project); err != want {
			t.Errorf("%s: got %+v, %v, want exactly %v", name, key, err, want)
		}
	}
	now.Move(time.Hour)
	if _, err := store.AuthenticatePublic(public, 1); err != want {
		t.Errorf("expired: got %v, want %v", err, want)
	}
}

func TestOnlyIngestKeysHaveAPublicKey(t *testing.T) {
	store, _ := openStore(t, access.Config{})
	for _, kind := range []access.Kind{access.KindAdmin, access.KindOps} {
		key, _ := create(t, store, access.NewKey{Name: "x", Kind: kind, Scopes: []access.Scope{access.OpsRead}})
		if key.PublicKey != "" || key.Project != 0 || key.DSN("http", "h") != "" {
			t.Errorf("kind %s: public key %q, project %d, DSN %q", kind, key.PublicKey, key.Project, key.DSN("http", "h"))
		}
	}
}

func TestProjectsAreNumberedOnce(t *testing.T) {
	bucket, _ := newBucket(t)
	a, _ := openStore(t, access.Config{Bucket: bucket})
	b, _ := openStore(t, access.Config{Bucket: bucket})
	create(t, a, access.NewKey{Name: "chosen", Kind: access.KindIngest, Project: 3})
	var mu sync.Mutex
	var projects []uint64
	var group sync.WaitGroup
	for _, store := range []*access.Store{a, b, a, b, a, b} {
		group.Go(func() {
			key, _, err := store.Create(t.Context(), access.NewKey{Name: "free", Kind: access.KindIngest})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			projects = append(projects, key.Project)
		})
	}
	group.Wait()
	slices.Sort(projects)
	if want := []uint64{1, 2, 4, 5, 6, 7}; !slices.Equal(projects, want) {
		t.Errorf("two nodes numbered projects %v, want %v", projects, want)
	}
	second, _ := create(t, b, access.NewKey{Name: "second key", Kind: access.KindIngest, Project: 3})
	if second.Project != 3 {
		t.Errorf("second key of project 3 got %d", second.Project)
	}
	for _, key := range a.List() {
		if err := a.Revoke(t.Context(), key.ID); err != nil {
			t.Fatal(err)
		}
	}
	if next, _ := create(t, a, access.NewKey{Name: "next", Kind: access.KindIngest}); next.Project != 8 {
		t.Errorf("after all keys were revoked the next project is %d, want 8: numbers are never used again", next.Project)
	}
}

func TestRevocationReachesEveryNode(t *testing.T) {
	bucket, _ := newBucket(t)
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

func TestRevoke(t *testing.T) {
	now := newClock()
	store, _ := openStore(t, access.Config{Now: now.Now})
	key, _ := create(t, store, access.NewKey{Name: "x", Kind: access.KindIngest})
	for _, id := range []string{"", "000000000000", key.ID + "x", "*", "../project.1", "key." + key.ID} {
		if err := store.Revoke(t.Context(), id); errata.KindOf(err) != errata.KindNotFound {
			t.Errorf("revoke %q: got %v, want not_found", id, err)
		}
	}
	for range 2 { // the second time changes nothing
		if err := store.Revoke(t.Context(), key.ID); err != nil {
			t.Fatal(err)
		}
		if got := store.List()[0].RevokedAt; !got.Equal(start) {
			t.Errorf("revoked at %v, want %v", got, start)
		}
		now.Move(time.Hour)
	}
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
	bucket, ns := newBucket(t)
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
	bucket, _ := newBucket(t)
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
	bucket, _ := newBucket(t)
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
	bucket, ns := newBucket(t)
	ns.Shutdown()
	ns.WaitForShutdown()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if store, err := access.Open(ctx, access.Config{Bucket: bucket}); err == nil {
		store.Close()
		t.Error("opened on a bucket that does not answer")
	}
}

func TestAuthenticateDoesNotAllocate(t *testing.T) {
	store, _ := openStore(t, access.Config{})
	key, text := create(t, store, access.NewKey{Name: "x", Kind: access.KindIngest})
	for name, f := range map[string]func(){
		"by secret":     func() { _, _ = store.Authenticate(text) },
		"by public key": func() { _, _ = store.AuthenticatePublic(key.PublicKey, 1) },
		"unknown":       func() { _, _ = store.Authenticate(goldenText) },
	} {
		f() // the first use is noted
		if got := testing.AllocsPerRun(100, f); got != 0 {
			t.Errorf("%s: %v allocations, want 0: every event passes here", name, got)
		}
	}
}

func BenchmarkAuthenticate(b *testing.B) {
	store, _ := openStore(b, access.Config{Now: time.Now})
	key, text := create(b, store, access.NewKey{Name: "x", Kind: access.KindIngest})
	b.Run("secret", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := store.Authenticate(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("public key", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := store.AuthenticatePublic(key.PublicKey, 1); err != nil {
				b.Fatal(err)
			}
		}
	})
}
