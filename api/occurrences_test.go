package api_test

import (
	"context"
	"encoding/json"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/query"
)

// occurrences answers with what its fields hold, and remembers what was asked.
type occurrences struct {
	page   query.Occurrences
	moment query.Moment
	record errata.Record
	facets query.Facets
	err    error

	asked  []any
	values url.Values
}

// newOccurrences has one of one record.
func newOccurrences() *occurrences {
	return &occurrences{
		moment: query.Moment{Occurrence: query.Occurrence{Number: 1, Position: 8192, Level: errata.LevelError, Time: start, Received: start}},
		record: errata.Record{Book: errata.BookSystem, Count: 1, FirstSeen: start, LastSeen: start, Level: errata.LevelError, Status: errata.StatusOpen},
	}
}

func (o *occurrences) Occurrences(_ context.Context, book errata.Book, signature errata.Signature, values url.Values, cursor uint64, limit int, _ query.Projects) (query.Occurrences, error) {
	o.asked, o.values = []any{book, signature.String(), cursor, limit}, values
	return o.page, o.err
}

func (o *occurrences) Occurrence(_ context.Context, book errata.Book, signature errata.Signature, at string, _ query.Projects) (query.Moment, error) {
	o.asked = []any{book, signature.String(), at}
	return o.moment, o.err
}

func (o *occurrences) Event(_ context.Context, id string, _ query.Projects) (errata.Record, query.Moment, error) {
	o.asked = []any{id}
	return o.record, o.moment, o.err
}

func (o *occurrences) Facets(_ context.Context, book errata.Book, signature errata.Signature, _ query.Projects) (query.Facets, error) {
	o.asked = []any{book, signature.String()}
	return o.facets, o.err
}

// sampleOccurrence has something in every field.
func sampleOccurrence() query.Occurrence {
	return query.Occurrence{
		Number: 12, Position: errata.PositionOf(1<<30, 9), EventID: "9ec79c33ec9942ab8353589fcb2e04dc",
		Time: start.Add(-time.Hour), Received: start, Environment: "production", Release: "shop@1.4.0", User: "ann<1204>",
		Level: errata.LevelCritical, Server: "web-3", Transaction: "POST /checkout", TraceID: "4bf92f3577b34da6a3ce929d0e0e4736",
		Tags: []errata.Tag{{Key: "shop", Value: "north"}, {Key: "browser", Value: "Firefox 131"}}, Available: true,
	}
}

const occurrencesOf = "/api/v1/admin/tools/logs/errors/" + someHex + "/occurrences"

func TestOccurrencesAnswer(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.ToolsGetErrorLog)
	none := query.Occurrence{Number: 1, Position: 8192, Time: start, Received: start, Level: errata.LevelError}
	b.occurrences.page = query.Occurrences{List: []query.Occurrence{sampleOccurrence(), none}, Count: 118, Next: 8192}
	golden(t, "occurrences", b.do(request{method: "GET", target: occurrencesOf + "?type=database&limit=2&cursor=77&tag=a:b,c&tag=d:e&user=7&from=2026-11-01", key: key}))
	if diff := cmp.Diff([]any{errata.BookDatabase, someHex, uint64(77), 2}, b.occurrences.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	if want := (url.Values{"type": {"database"}, "limit": {"2"}, "cursor": {"77"}, "tag": {"a:b,c", "d:e"}, "user": {"7"}, "from": {"2026-11-01"}}); !cmp.Equal(want, b.occurrences.values) {
		t.Errorf("values %v, want %v", b.occurrences.values, want)
	}
	// In the spelling of PHP, tags stay apart: their values may have commas.
	b.do(request{method: "GET", target: occurrencesOf + "?tag[]=a:b,c&tag[]=d:e&release[]=1&release[]=2", key: key})
	if want := (url.Values{"tag": {"a:b,c", "d:e"}, "release": {"1,2"}}); !cmp.Equal(want, b.occurrences.values) {
		t.Errorf("values %v, want %v", b.occurrences.values, want)
	}
	b.occurrences.page = query.Occurrences{}
	golden(t, "occurrences_empty", b.do(request{method: "GET", target: occurrencesOf, key: key}))
}

func TestOneOccurrenceAnswers(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.ToolsGetErrorLog)
	b.occurrences.moment = query.Moment{Occurrence: sampleOccurrence(), Payload: json.RawMessage(`{"n":1.50}`), Previous: errata.PositionOf(1<<30, 5)}
	golden(t, "occurrence", b.do(request{method: "GET", target: occurrencesOf + "/Latest", key: key}))
	if diff := cmp.Diff([]any{errata.BookSystem, someHex, "latest"}, b.occurrences.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	b.occurrences.moment = query.Moment{Occurrence: query.Occurrence{Number: 1, Level: errata.LevelError, Time: start, Received: start}, Next: 9}
	golden(t, "occurrence_without_payload", b.do(request{method: "GET", target: occurrencesOf + "/8192", key: key}))

	b.occurrences.record = sample(t)
	golden(t, "event", b.do(request{method: "GET", target: "/api/v1/admin/tools/logs/occurrences/9EC79C33-ec9942ab8353589fcb2e04dc", key: key}))
	if diff := cmp.Diff([]any{"9EC79C33-ec9942ab8353589fcb2e04dc"}, b.occurrences.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestFacetsAnswer(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.ToolsGetErrorLog)
	target := "/api/v1/admin/tools/logs/errors/" + someHex + "/facets"
	golden(t, "facets_empty", b.do(request{method: "GET", target: target, key: key}))
	where := query.Deployed{Counted: query.Counted{Value: "production", Count: 11}, FirstSeen: start.Add(-time.Hour), LastSeen: start}
	b.occurrences.facets = query.Facets{
		Environments: []query.Deployed{where}, Releases: []query.Deployed{where, {Counted: query.Counted{Count: 1}, FirstSeen: start, LastSeen: start}},
		Users: 9, TopUsers: []query.Counted{{Value: "1204", Count: 3}}, Tags: map[string][]query.Counted{"b": {{Value: "<1>", Count: 2}}, "a": {{Value: "", Count: 1}}},
	}
	golden(t, "facets", b.do(request{method: "GET", target: target + "?type=database", key: key}))
}

func TestOccurrencesRefuse(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	b.occurrences.err = errata.Errorf(errata.KindNotFound, "There is none.")
	const at = "/api/v1/admin/tools/logs/errors/"
	for target, want := range map[string]string{
		occurrencesOf: "not_found", occurrencesOf + "/first": "not_found", at + someHex + "/facets": "not_found", "/api/v1/admin/tools/logs/occurrences/x": "not_found",
		at + "x/occurrences": "signature_required", at + "x/occurrences/first": "signature_required", at + "x/facets": "signature_required",
		occurrencesOf + "?type=sql": "invalid_type", occurrencesOf + "/1?type=sql": "invalid_type", at + someHex + "/facets?type=sql": "invalid_type",
		occurrencesOf + "?limit=0": "invalid_limit", occurrencesOf + "?limit=101": "invalid_limit", occurrencesOf + "?cursor=0": "invalid_cursor", occurrencesOf + "?page=2": "unknown_parameter",
	} {
		if got := code(t, b.do(request{method: "GET", target: target, key: key})); got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
}
