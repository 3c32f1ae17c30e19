package api_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/query"
	"github.com/errata-log/errata/test/openapitest"
)

// positions answers with its fields.
type positions struct {
	mu     sync.Mutex
	shown  uint64
	asked  []uint64
	within time.Duration // until the deadline of the last wait
	err    error
}

func (p *positions) Shown() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shown
}

func (p *positions) Await(ctx context.Context, sequence uint64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, sequence)
	if late, bounded := ctx.Deadline(); bounded {
		p.within = time.Until(late)
	}
	if p.err == nil {
		p.shown = max(p.shown, sequence)
	}
	return p.err
}

const positionHeader = "X-Errata-Position"

// TestEveryAnswerTellsAPosition asks all routes of the administration that need a scope,
// whatever they answer.
func TestEveryAnswerTellsAPosition(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	for _, r := range api.Routes() {
		if r.Path == streamPath { // it has no end; TestStream sees its headers
			continue
		}
		want := ""
		if r.Admission == api.AdmitByScope && strings.HasPrefix(r.Path, "/api/v1/admin/") {
			want = "7"
		}
		w := b.do(request{method: r.Method, target: r.Path, key: key})
		if got := w.Header().Get(positionHeader); got != want {
			t.Errorf("%s %s: %d tells position %q, want %q", r.Method, r.Path, w.Code, got, want)
		}
	}
	if w := b.do(request{method: "GET", target: errorsPath}); w.Code != http.StatusUnauthorized || w.Header().Get(positionHeader) != "" {
		t.Errorf("without a key: %d tells %q", w.Code, w.Header().Get(positionHeader))
	}
}

// TestPositionIsThatAfterTheAnswerWasRead: what comes while the records are read may be in
// the answer.
func TestPositionIsThatAfterTheAnswerWasRead(t *testing.T) {
	b := newBench(t, nil)
	b.records.list = func(context.Context, url.Values, query.Projects) (query.List, error) {
		b.positions.shown = 12
		return query.List{Page: 1, Limit: 25}, nil
	}
	w := b.do(request{method: "GET", target: errorsPath, key: b.key(t, access.Everything)})
	if got := w.Header().Get(positionHeader); w.Code != http.StatusOK || got != "12" {
		t.Errorf("%d tells position %q, want 12", w.Code, got)
	}
}

// TestPositionOfAChange: an answer tells at least the position of what the call has put on the
// log. It also does when the call fails because the records do not have that in time.
func TestPositionOfAChange(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	b.changes.written = 41
	for _, err := range []error{nil, errata.Errorf(errata.KindStoreUnavailable, "not yet")} {
		b.changes.err = err
		w := b.do(request{method: "DELETE", target: errorsPath, key: key, body: `{"signatures":["` + someHex + `"]}`})
		if got := w.Header().Get(positionHeader); got != "41" {
			t.Errorf("%d (%v) tells position %q, want 41", w.Code, err, got)
		}
	}
}

// TestPositionThatIsSentIsAwaited: the records are read after the wait, and not at all when
// it fails.
func TestPositionThatIsSentIsAwaited(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	read := 0
	b.records.list = func(context.Context, url.Values, query.Projects) (query.List, error) {
		if read++; !slices.Equal(b.positions.asked, []uint64{30}) {
			t.Errorf("the records were read after waits for %v, want 30", b.positions.asked)
		}
		return query.List{Page: 1, Limit: 25}, nil
	}
	ask := func(header ...string) (status int, told, kind string) {
		b.positions.asked = nil
		w := b.do(request{method: "GET", target: errorsPath, key: key, headers: header})
		return w.Code, w.Header().Get(positionHeader), code(t, w)
	}
	if status, told, _ := ask(positionHeader + ": 30"); status != http.StatusOK || told != "30" || read != 1 {
		t.Fatalf("%d tells position %q after %d reads, want 200, 30 and 1", status, told, read)
	}
	if b.positions.within <= 0 || b.positions.within > 12*time.Second {
		t.Errorf("it waits for %v, want at most 12 s", b.positions.within)
	}
	for kind, want := range map[errata.Kind]int{errata.KindUnknownPosition: http.StatusUnprocessableEntity, errata.KindStoreUnavailable: http.StatusServiceUnavailable} {
		b.positions.err = errata.Errorf(kind, "no")
		if status, told, got := ask(positionHeader + ": 31"); status != want || got != string(kind) || told != "30" {
			t.Errorf("%d %s tells position %q, want %d %s and 30", status, got, told, want, kind)
		}
	}
	for _, bad := range []string{"", "-1", "1.5", "seven", "7, 8", "18446744073709551616"} {
		if status, _, kind := ask(positionHeader + ": " + bad); status != http.StatusBadRequest || kind != "invalid_position" || b.positions.asked != nil {
			t.Errorf("%q: %d %s after waits for %v, want 400 invalid_position and none", bad, status, kind, b.positions.asked)
		}
	}
	if status, _, kind := ask(positionHeader+": 7", positionHeader+": 8"); status != http.StatusBadRequest || kind != "invalid_position" {
		t.Errorf("two headers: %d %s, want 400 invalid_position", status, kind)
	}
	if read != 1 {
		t.Errorf("the records were read %d times, want once", read)
	}
}

// TestPositionOfAReplayedAnswer: the request was carried out by another node, and this one
// answers when its records have the effect.
func TestPositionOfAReplayedAnswer(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	b.changes.written = 55
	cleanUp := func() (status int, told string) {
		w := b.do(request{method: "POST", target: errorsPath + "/cleanup", key: key, body: `{"before":"2026-01-01"}`, headers: []string{"Idempotency-Key: cleanup-2026"}})
		return w.Code, w.Header().Get(positionHeader)
	}
	if status, told := cleanUp(); status != http.StatusOK || told != "55" || len(b.positions.asked) != 0 {
		t.Fatalf("%d tells position %q after waits for %v, want 200, 55 and none", status, told, b.positions.asked)
	}
	if status, told := cleanUp(); status != http.StatusOK || told != "55" || !slices.Equal(b.positions.asked, []uint64{55}) {
		t.Errorf("again: %d tells position %q after waits for %v, want 200, 55 and 55", status, told, b.positions.asked)
	}
	b.positions.err = errata.Errorf(errata.KindStoreUnavailable, "not yet")
	if status, _ := cleanUp(); status != http.StatusServiceUnavailable || b.changes.calls != 1 {
		t.Errorf("a node that is behind: %d after %d cleanups, want 503 and 1", status, b.changes.calls)
	}
}

// TestDocumentOfPositions: the document has the header of every answer that tells a position,
// and its errors.
func TestDocumentOfPositions(t *testing.T) {
	for _, r := range api.Routes() {
		op := operations(t)[documented(r)]
		tells := r.Admission == api.AdmitByScope && strings.HasPrefix(r.Path, "/api/v1/admin/")
		for status, answer := range op.Responses.Map() {
			if header := answer.Value.Headers[positionHeader]; status < "300" && (header != nil) != tells {
				t.Errorf("%s: the answer %s has a position: %v, want %v", documented(r), status, header != nil, tells)
			}
		}
		for _, kind := range []errata.Kind{errata.KindInvalidPosition, errata.KindUnknownPosition} {
			if slices.Contains(openapitest.Codes(op), kind) != tells {
				t.Errorf("%s: names %s: %v, want %v", documented(r), kind, !tells, tells)
			}
		}
	}
}
