package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/logcare"
	"github.com/errata-log/errata/ops"
	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/query"
	"github.com/errata-log/errata/test/openapitest"
	"github.com/errata-log/errata/test/testenv"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, 11, 21, 3, 58, 25, 123e6, time.UTC)

// clock is a clock that stands until it is moved.
type clock struct {
	mu sync.Mutex
	at time.Time
}

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

// records answers with what its fields do.
type records struct {
	list   func(ctx context.Context, values url.Values, among query.Projects) (query.List, error)
	detail func(ctx context.Context, book errata.Book, signature errata.Signature, among query.Projects) (errata.Record, json.RawMessage, error)
	trend  func(ctx context.Context, book errata.Book, signature errata.Signature, over string, among query.Projects) (query.Trend, error)
}

func (r *records) List(ctx context.Context, values url.Values, among query.Projects) (query.List, error) {
	return r.list(ctx, values, among)
}

func (r *records) Detail(ctx context.Context, book errata.Book, signature errata.Signature, among query.Projects) (errata.Record, json.RawMessage, error) {
	return r.detail(ctx, book, signature, among)
}

func (r *records) Trend(ctx context.Context, book errata.Book, signature errata.Signature, over string, among query.Projects) (query.Trend, error) {
	return r.trend(ctx, book, signature, over, among)
}

func (r *records) ReleaseTrend(ctx context.Context, book errata.Book, signature errata.Signature, over string, among query.Projects) (query.ReleaseTrend, error) {
	trend, err := r.trend(ctx, book, signature, over, among)
	counts := func(n ...uint64) query.StepCounts { return query.StepCounts{Counts: n, Total: n[0]} }
	return query.ReleaseTrend{
		Trend: trend, Releases: []query.ReleaseCounts{{Release: "shop@1.4.0", StepCounts: counts(1)}}, Others: counts(2), OtherReleases: 7, NotKept: counts(0),
	}, err
}

// requests keeps answers in memory.
type requests struct {
	mu   sync.Mutex
	kept map[string][]byte
}

func (r *requests) Claim(_ context.Context, id string) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept, there := r.kept[id]
	if there && kept == nil {
		return nil, errata.Errorf(errata.KindAlreadyRunning, "It is running.")
	}
	if !there {
		r.kept[id] = nil
	}
	return kept, nil
}

func (r *requests) Finish(_ context.Context, id string, outcome []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if outcome == nil {
		delete(r.kept, id)
	} else {
		r.kept[id] = outcome
	}
	return nil
}

// replayer answers with its fields.
type replayer struct {
	forced bool
	result ops.ReplayResult
	err    error
}

func (r *replayer) Replay(_ context.Context, force bool) (ops.ReplayResult, error) {
	r.forced = force
	return r.result, r.err
}

func (r *replayer) Replaying() ops.ReplayProgress { return ops.ReplayProgress{} }

// sampleTally is the content of a projection.
func sampleTally() projector.Tally {
	return projector.Tally{
		Checkpoint: 9, Records: 2, Count: 7, Payloads: 2, Hours: 7,
		RecordsChecksum: 0xaa, PayloadsChecksum: 0xbb, HoursChecksum: 0xcc, DeploymentsChecksum: 0xdd,
	}
}

// health answers with its fields.
type health struct {
	ready  error
	status ops.Status
	alarms []errata.Alarm
}

func (h *health) Ready(context.Context) error       { return h.ready }
func (h *health) Status(context.Context) ops.Status { return h.status }
func (h *health) Alarms() []errata.Alarm            { return h.alarms }

// log collects the lines of the service's own log.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// locked is a source that several goroutines may read.
type locked struct {
	mu sync.Mutex
	io.Reader
}

func (l *locked) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Reader.Read(p)
}

// counting yields 0, 1, 2, … so that request ids are the same every time.
type counting struct {
	mu   sync.Mutex
	next byte
}

func (c *counting) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range p {
		p[i] = c.next
		c.next++
	}
	return len(p), nil
}

// bench is an API with keys in a real bucket and doubles for everything else.
type bench struct {
	handler http.Handler
	keys    *access.Store
	clock   *clock
	records *records
	// occurrences are those behind the records.
	occurrences *occurrences
	changes     *changes
	positions   *positions
	insights    *insights
	feed        *changeFeed
	kept        *requests
	replays     *replayer
	care        *logCare
	erasures    *eraser
	nodes       *leavers
	health      *health
	logging     *logSettings
	security    *securitySettings
	codes       *codes
	signIns     *signIns
	audit       *auditTrail
	alerts      *alertFacts
	sent        *sentAlerts
	log         *log
}

// newBench makes one; change may change its Config. There are no rate limits
// unless change sets them.
func newBench(t testing.TB, change func(*api.Config)) *bench {
	t.Helper()
	b := &bench{
		clock: &clock{at: start},
		records: &records{
			list: func(context.Context, url.Values, query.Projects) (query.List, error) {
				return query.List{Page: 1, Limit: 25}, nil
			},
			detail: func(_ context.Context, book errata.Book, signature errata.Signature, among query.Projects) (errata.Record, json.RawMessage, error) {
				return errata.Record{
					Book: book, Signature: signature, Count: 1, FirstSeen: start, LastSeen: start,
					Level: errata.LevelError, Status: errata.StatusOpen,
				}, nil, nil
			},
			trend: func(context.Context, errata.Book, errata.Signature, string, query.Projects) (query.Trend, error) {
				return query.Trend{Range: query.Range{Name: "24h", From: start, To: start.Add(time.Hour), Step: time.Hour}, Counts: []uint64{3}, Total: 3}, nil
			},
		},
		occurrences: newOccurrences(), changes: &changes{}, positions: &positions{shown: 7},
		insights: newInsights(), feed: newChangeFeed(),
		kept:     &requests{kept: map[string][]byte{}},
		erasures: &eraser{}, nodes: &leavers{},
		replays: &replayer{result: ops.ReplayResult{
			Comparison: projector.Comparison{Swapped: true, From: 1, Facts: 9, Events: 7, Live: sampleTally(), Rebuilt: sampleTally(), Differences: []string{}},
			Gaps:       []logcare.Gap{},
		}},
		care:     &logCare{},
		health:   &health{status: ops.Status{Checks: []errata.Check{}, OK: true}},
		logging:  &logSettings{now: errata.Logging{ErrorLog: true}},
		security: newSecuritySettings(),
		codes:    &codes{}, signIns: newSignIns(), audit: &auditTrail{}, alerts: &alertFacts{}, log: &log{},
	}
	b.sent = &sentAlerts{service: newAlerts(t, b.alerts)}
	b.keys = openKeys(t, b.clock)
	cfg := api.Config{
		Version: "1.2.3", Keys: b.keys, Projects: newProjects(t, b), Records: b.records, Occurrences: b.occurrences, Health: b.health,
		LogSettings: b.logging, Security: b.security, Challenges: b.codes, SignIn: b.signIns, Changes: b.changes, Positions: b.positions, Insights: b.insights, Requests: b.kept, Replayer: b.replays, LogCare: b.care, Nodes: b.nodes, Eraser: b.erasures,
		Alerts: b.sent.service, Deliveries: b.sent,
		Audit: b.audit, Letters: &letters{},
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "errata_up 1\n")
		}),
		Importer: newImporter(), Feed: b.feed,
		Logger: slog.New(slog.NewJSONHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Now:    b.clock.Now, Random: &counting{},
	}
	if change != nil {
		change(&cfg)
	}
	handler, err := api.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	b.handler = handler
	if cfg.Receivers == (api.Receivers{}) { // those of the tests speak no protocol
		b.handler = openapitest.Handler(t, handler)
	}
	return b
}

// openKeys opens a store on a JetStream server of the test's own. It makes the
// same keys every time.
func openKeys(t testing.TB, clock *clock) *access.Store {
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
	js := testenv.DialJetStream(t, "", nats.InProcessServer(ns))
	bucket, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "keys"})
	if err != nil {
		t.Fatal(err)
	}
	store, err := access.Open(t.Context(), access.Config{Bucket: bucket, Now: clock.Now, Random: &locked{Reader: rand.NewChaCha8([32]byte{})}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store
}

// create makes a key and returns it with its text.
func (b *bench) create(t testing.TB, n access.NewKey) (access.Key, string) {
	t.Helper()
	n.Name = "test"
	key, text, err := b.keys.Create(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return key, text
}

// key makes an admin key with the scopes that never expires, and returns its
// text.
func (b *bench) key(t testing.TB, scopes ...access.Scope) string {
	t.Helper()
	_, text := b.create(t, access.NewKey{Kind: access.KindAdmin, Scopes: scopes, NeverExpires: true})
	return text
}

// request is one call of a test. Headers are "Name: value".
type request struct {
	method, target string
	key            string
	body           string
	from           string // host:port of the peer, "" for one far away
	headers        []string
}

func (b *bench) do(r request) *httptest.ResponseRecorder {
	req := httptest.NewRequest(r.method, r.target, strings.NewReader(r.body))
	if r.body == "" {
		req = httptest.NewRequest(r.method, r.target, http.NoBody)
	}
	req.RemoteAddr = "192.0.2.1:4711"
	if r.from != "" {
		req.RemoteAddr = r.from
	}
	if r.key != "" {
		req.Header.Set("Authorization", "Bearer "+r.key)
	}
	for _, h := range r.headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, req)
	return w
}

// code is the error code of an answer, "" for a success.
func code(t testing.TB, w *httptest.ResponseRecorder) string {
	t.Helper()
	var envelope struct {
		Error struct{ Code string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &envelope); err != nil {
		t.Fatalf("the answer is not JSON: %v\n%s", err, w.Body)
	}
	return envelope.Error.Code
}
