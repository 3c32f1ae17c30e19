package api_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
)

func TestIdempotencyKey(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	create := func(apiKey, idempotencyKey, name string) (int, string, bool) {
		w := b.do(request{
			method: "POST", target: "/api/v1/admin/keys", key: apiKey, body: `{"name":"` + name + `","kind":"adm","scopes":["Ops/Read"]}`,
			headers: []string{"Idempotency-Key: " + idempotencyKey},
		})
		return w.Code, w.Body.String(), w.Header().Get("Idempotency-Replayed") == "true"
	}
	status, first, replayed := create(key, "request-1", "one")
	if status != 201 || replayed {
		t.Fatalf("%d %s", status, first)
	}
	if status, again, replayed := create(key, "request-1", "one"); status != 201 || again != first || !replayed {
		t.Errorf("again: %d %s, replayed %v", status, again, replayed)
	}
	if status, _, replayed := create(b.key(t, access.Everything), "request-1", "one"); status != 201 || replayed {
		t.Errorf("another caller: %d, replayed %v", status, replayed)
	}
	if status, body, _ := create(key, "request-1", "two"); status != 422 || !strings.Contains(body, `"idempotency_key_reused"`) {
		t.Errorf("another request: %d %s", status, body)
	}
	before := len(b.keys.List())
	for _, bad := range []string{"", "1234567", "ääää", strings.Repeat("k", 192)} {
		if status, body, _ := create(key, bad, "three"); status != 422 || !strings.Contains(body, `"invalid_idempotency_key"`) {
			t.Errorf("%d characters: %d %s", utf8.RuneCountInString(bad), status, body)
		}
	}
	if now := len(b.keys.List()); now != before {
		t.Errorf("%d keys were made without a key of repetition", now-before)
	}
	for _, kept := range b.kept.kept {
		if strings.Contains(string(kept), "eik_") {
			t.Errorf("a kept answer shows a key: %s", kept)
		}
	}
}

// TestIdempotencyKeyIsFreedByFailure: a request that failed may be sent again,
// one that is running may not.
func TestIdempotencyKeyIsFreedByFailure(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	cleanup := func() (int, string) {
		w := b.do(request{
			method: "POST", target: errorsPath + "/cleanup", key: key, body: `{"before":"2026-01-01"}`,
			headers: []string{"Idempotency-Key: cleanup-2026"},
		})
		return w.Code, w.Body.String()
	}
	b.changes.err = errata.Errorf(errata.KindStoreUnavailable, "away")
	if status, body := cleanup(); status != 503 {
		t.Errorf("%d %s", status, body)
	}
	b.changes.err = nil
	for range 3 {
		if status, body := cleanup(); status != 200 {
			t.Errorf("%d %s", status, body)
		}
	}
	if b.changes.calls != 2 {
		t.Errorf("carried out %d times, want once after the failure", b.changes.calls)
	}
	for id := range b.kept.kept {
		b.kept.kept[id] = nil // as if it were running
	}
	if status, body := cleanup(); status != 409 || !strings.Contains(body, `"already_running"`) {
		t.Errorf("%d %s", status, body)
	}
}
