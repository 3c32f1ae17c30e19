package exchange_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/exchange"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/test/testenv"
)

// noon is the time of all requests: the present hour, so that retention keeps them.
var noon = time.Now().UTC().Truncate(time.Hour)

// bench is both handlers before real engines.
type bench struct {
	*testenv.Env
	stream   exchange.Stream
	registry *prometheus.Registry
	switches errata.Logging
	handlers map[exchange.Log]*exchange.Handler
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{
		Env: testenv.New(t), registry: prometheus.NewRegistry(),
		switches: errata.Logging{ModuleLog: true, QueryLogging: true},
		handlers: map[exchange.Log]*exchange.Handler{},
	}
	b.stream = exchange.Stream{
		JetStream: b.JetStream, Name: migrations.ExchangesStream(b.Namespace), Prefix: migrations.SubjectPrefix(b.Namespace),
	}
	for _, log := range []exchange.Log{exchange.Modules, exchange.Queries} {
		h, err := exchange.NewHandler(log, exchange.Config{
			Door: door.Config{
				Keyring: doortest.Keys{}, Registerer: b.registry,
				Now: func() time.Time { return noon }, NewID: func() string { return "an-id" },
			},
			Stream: b.stream, Rules: ingest.Rules{InstallRoots: []string{"/srv/app"}},
			Switches: func() errata.Logging { return b.switches },
		})
		if err != nil {
			t.Fatal(err)
		}
		b.handlers[log] = h
	}
	return b
}

// answer is the answer of a handler.
type answer struct {
	Status int
	Header http.Header
	Data   struct {
		Accepted, Recorded int
		Rejected           []struct {
			Index         int
			Code, Message string
		}
	}
	Error struct {
		Code, Message string
		Details       any
		RequestID     string `json:"request_id"`
	}
}

func (b *bench) post(t testing.TB, log exchange.Log, content string, header ...string) answer {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/api/v1/logs/"+log.String(), strings.NewReader(content)).WithContext(t.Context())
	r.RemoteAddr = "203.0.113.9:1234"
	r.Header.Set("Authorization", "Bearer "+doortest.Token)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	b.handlers[log].ServeHTTP(w, r)
	a := answer{Status: w.Code, Header: w.Header()}
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	return a
}

// taken posts a body that must be taken, with recorded of its entries recorded.
func (b *bench) taken(t testing.TB, log exchange.Log, recorded int, content string) {
	t.Helper()
	a := b.post(t, log, content)
	if a.Status != http.StatusOK || a.Data.Recorded != recorded || a.Header.Get(door.HeaderRecorded) != fmt.Sprint(recorded) {
		t.Fatalf("answer %+v, want %d recorded", a, recorded)
	}
}

// writer starts a writer on conn, nil for the real one.
func (b *bench) writer(t testing.TB, conn driver.Conn) *exchange.Writer {
	t.Helper()
	if conn == nil {
		conn = b.ClickHouse
	}
	w, err := exchange.NewWriter(t.Context(), exchange.WriterConfig{Stream: b.stream, ClickHouse: conn, ModuleDays: 14, QueryDays: 7})
	if err != nil {
		t.Fatal(err)
	}
	w.Start()
	return w
}

func stop(t testing.TB, w *exchange.Writer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := w.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// eventually waits until ok holds. It polls, because the engines send no signal
// when they are done.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for !ok() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("still not: %s", what)
		}
	}
}

// waiting is how many requests are on the stream.
func (b *bench) waiting(t testing.TB) uint64 {
	t.Helper()
	s, err := b.JetStream.Stream(t.Context(), b.stream.Name)
	if err != nil {
		t.Fatal(err)
	}
	return s.CachedInfo().State.Msgs
}

// settle waits until nothing is on the stream.
func (b *bench) settle(t testing.TB) {
	t.Helper()
	eventually(t, "the stream is empty", func() bool { return b.waiting(t) == 0 })
}

// texts are the values of one text column.
func (b *bench) texts(t testing.TB, query string) (list []string) {
	t.Helper()
	rows, err := b.ClickHouse.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		list = append(list, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

var local = netip.MustParsePrefix("10.0.0.0/8")

// nowhere is a stream that is never used.
var nowhere = exchange.Stream{JetStream: unasked{}, Name: "EXCHANGES"}

type unasked struct{ jetstream.JetStream }
