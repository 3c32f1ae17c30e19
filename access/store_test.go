package access_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
)

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
	bucket := newBucket(t)
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
