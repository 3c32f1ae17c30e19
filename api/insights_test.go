package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/query"
)

// insights answers with what its fields do.
type insights struct {
	trends   func(keys []errata.RecordKey, over string) ([]query.Trend, error)
	overview func(over string) (query.Overview, error)
	counted  errata.Changed
	before   time.Time // of the last CountUpTo
	totals   func() (map[uint64]query.ProjectTotals, error)
	preview  func(rule alerts.Rule) query.Preview
	among    query.Projects // of the last call
}

func (i *insights) Trends(_ context.Context, keys []errata.RecordKey, over string, among query.Projects) ([]query.Trend, error) {
	i.among = among
	return i.trends(keys, over)
}

func (i *insights) Overview(_ context.Context, over string, among query.Projects) (query.Overview, error) {
	i.among = among
	return i.overview(over)
}

func (i *insights) CountUpTo(_ context.Context, before time.Time, among query.Projects) (errata.Changed, error) {
	i.before, i.among = before, among
	return i.counted, nil
}

func (i *insights) ProjectTotals(_ context.Context, among query.Projects) (map[uint64]query.ProjectTotals, error) {
	i.among = among
	return i.totals()
}

func (i *insights) Preview(_ context.Context, rule alerts.Rule, _ time.Duration) (query.Preview, error) {
	if i.preview == nil {
		return query.Preview{}, errata.Errorf(errata.KindStoreUnavailable, "no store")
	}
	return i.preview(rule), nil
}

// sampleSpan is two hours.
var sampleSpan = query.Range{Name: "2h", From: start.Truncate(time.Hour), To: start.Truncate(time.Hour).Add(2 * time.Hour), Step: time.Hour}

func newInsights() *insights {
	return &insights{
		trends: func(keys []errata.RecordKey, _ string) ([]query.Trend, error) {
			var trends []query.Trend
			for i := range keys {
				trends = append(trends, query.Trend{Range: sampleSpan, Counts: []uint64{uint64(i), 2}, Total: uint64(i) + 2})
			}
			return trends, nil
		},
		overview: func(string) (query.Overview, error) { return query.Overview{Range: sampleSpan}, nil },
		totals: func() (map[uint64]query.ProjectTotals, error) {
			return map[uint64]query.ProjectTotals{2: {Records: 3, Events: 11}}, nil
		},
	}
}

const trendsPath = "/api/v1/admin/tools/logs/errors/trends"

func TestTrends(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.ToolsGetErrorLogs)
	one, two := signature(t, "00112233445566778899aabbccddeeff"), signature(t, "0123456789abcdef0123456789abcdef")
	var asked []errata.RecordKey
	var over string
	answer := b.insights.trends
	b.insights.trends = func(keys []errata.RecordKey, of string) ([]query.Trend, error) {
		asked, over = keys, of
		return answer(keys, of)
	}
	list := one.String() + ",database:" + one.String() + ", System:" + strings.ToUpper(two.String()) + ",," + one.String()
	golden(t, "trends", b.do(request{method: "GET", target: trendsPath + "?range=2h&signatures=" + strings.ReplaceAll(list, " ", "%20"), key: key}))
	want := []errata.RecordKey{{Book: errata.BookSystem, Signature: one}, {Book: errata.BookDatabase, Signature: one}, {Book: errata.BookSystem, Signature: two}}
	if diff := cmp.Diff(want, asked); diff != "" || over != "2h" {
		t.Errorf("range %q, keys (-want +got):\n%s", over, diff)
	}
	hundred := strings.Repeat(",", 5)
	for i := range 100 {
		hundred += "," + signature(t, strings.Repeat("0", 30)+string("0123456789"[i/10])+string("0123456789"[i%10])).String()
	}
	if w := b.do(request{method: "GET", target: trendsPath + "?signatures=" + hundred, key: key}); w.Code != http.StatusOK {
		t.Errorf("100 signatures: got %d %s", w.Code, w.Body)
	}
	for list, want := range map[string]string{
		"": "signature_required", ",,": "signature_required", "abc": "signature_required", "database:": "signature_required",
		"cache:" + one.String(): "invalid_type", hundred + "," + one.String(): "too_many_signatures",
	} {
		if w := b.do(request{method: "GET", target: trendsPath + "?signatures=" + list, key: key}); w.Code != http.StatusUnprocessableEntity || code(t, w) != want {
			t.Errorf("signatures %.20q: got %d %s, want %s", list, w.Code, w.Body, want)
		}
	}
	b.insights.trends = func([]errata.RecordKey, string) ([]query.Trend, error) {
		return nil, errata.Errorf(errata.KindInvalidRange, "The range is none.")
	}
	if w := b.do(request{method: "GET", target: trendsPath + "?signatures=" + one.String(), key: key}); code(t, w) != "invalid_range" {
		t.Errorf("a bad range: got %d %s", w.Code, w.Body)
	}
}

func TestOverview(t *testing.T) {
	b := newBench(t, nil)
	r := request{method: "GET", target: "/api/v1/admin/tools/logs/overview?range=14d", key: b.key(t, access.ToolsGetErrorLogs)}
	golden(t, "overview_empty", b.do(r))
	b.insights.overview = func(over string) (query.Overview, error) {
		if over != "14d" {
			t.Errorf("asked for %q", over)
		}
		record := sample(t)
		return query.Overview{
			Range:    sampleSpan,
			Series:   []query.Series{{Book: errata.BookSystem, Level: errata.LevelFatal, Counts: []uint64{0, 7}}},
			Growing:  []query.Growing{{Record: record, Before: 1, Now: 6}},
			Noisy:    []query.Noisy{{Record: record, Count: 7}},
			Projects: []query.ProjectEvents{{Project: 7, Events: 5}, {Project: 0, Events: 2}},
		}, nil
	}
	golden(t, "overview", b.do(r))
}

func TestCleanupPreview(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.ToolsClearErrorLogs)
	b.insights.counted = errata.Changed{System: 7, Database: 2}
	ask := func(body string) request {
		return request{method: "POST", target: "/api/v1/admin/tools/logs/errors/cleanup/preview", key: key, body: body, headers: []string{"X-Request-Id: r"}}
	}
	golden(t, "cleanup_preview", b.do(ask(`{"before":"2026-11-01"}`)))
	if want := time.Date(2026, 11, 1, 23, 59, 59, 999e6, time.UTC); !b.insights.before.Equal(want) {
		t.Errorf("counted up to %v, want %v", b.insights.before, want)
	}
	if b.changes.calls != 0 {
		t.Error("a preview changed something")
	}
	if w := b.do(ask(`{"before":"soon"}`)); code(t, w) != "invalid_date" {
		t.Errorf("no date: got %d %s", w.Code, w.Body)
	}
}

// TestPreviewWaitsForTheFold: the records are counted when everything that was taken
// before is visible, and not at all when that does not come in time.
func TestPreviewWaitsForTheFold(t *testing.T) {
	b := newBench(t, nil)
	r := request{method: "POST", target: errorsPath + "/cleanup/preview", key: b.key(t, access.ToolsClearErrorLogs), body: `{"before":"2026-11-01"}`}
	b.insights.counted = errata.Changed{System: 7}
	b.changes.settle = func(ctx context.Context) error {
		if _, bounded := ctx.Deadline(); !bounded || !b.insights.before.IsZero() {
			t.Errorf("bounded %v, counted already up to %v", bounded, b.insights.before)
		}
		b.insights.counted.System = 8
		return nil
	}
	if w := b.do(r); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"count":8`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for _, kind := range []errata.Kind{errata.KindStoreUnavailable, errata.KindLogUnavailable, errata.KindLogFull} {
		b.insights.before = time.Time{}
		b.changes.settle = func(context.Context) error { return errata.Errorf(kind, "Not yet.") }
		if w := b.do(r); code(t, w) != string(kind) || !b.insights.before.IsZero() {
			t.Errorf("%s: %d %s, counted up to %v", kind, w.Code, w.Body, b.insights.before)
		}
	}
}
