package exchange_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/exchange"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/migrations"
)

// faulty is a ClickHouse whose inserts have faults.
type faulty struct {
	driver.Conn
	// accident chooses the fault of the next insert.
	accident func() accident
	// crash ends the writer.
	crash func()
}

type accident int

const (
	fine         accident = iota
	refused               // nothing is written, and the writer gets an error
	unheard               // the rows are written, and the writer gets an error
	crashBefore           // the writer ends before the insert
	crashAfter            // the writer ends after the insert, before the purge
	numAccidents = iota
)

func (f *faulty) PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	// A crash ends the context of the process, but not the insert.
	b, err := f.Conn.PrepareBatch(context.WithoutCancel(ctx), query, opts...) //nolint:clickhouselint // the caller closes it
	return &faultyBatch{Batch: b, faulty: f}, err
}

type faultyBatch struct {
	driver.Batch
	*faulty
}

var errAccident = errors.New("an accident")

func (b *faultyBatch) Send() error {
	what := b.accident()
	switch what {
	case refused:
		return errAccident
	case crashBefore:
		b.crash()
		return errAccident
	}
	err := b.Batch.Send()
	switch what {
	case unheard:
		return errors.Join(errAccident, err)
	case crashAfter:
		b.crash()
	}
	return err
}

// unsettled starts writers, which have faults and crashes, until there were enough
// of them. It returns when no writer runs.
func (b *bench) unsettled(t *testing.T, random *rand.Rand, accidents int, met *[numAccidents]atomic.Int64) {
	for accidents > 0 {
		conn := &faulty{Conn: b.ClickHouse}
		crashed := make(chan struct{})
		kinds := make([]accident, 64)
		for i := range kinds {
			kinds[i] = accident(random.IntN(numAccidents))
		}
		var at atomic.Int64
		conn.accident = func() accident {
			what := kinds[at.Add(1)%int64(len(kinds))]
			met[what].Add(1)
			return what
		}
		var writer atomic.Pointer[exchange.Writer]
		ready := make(chan struct{})
		var once atomic.Bool
		conn.crash = func() {
			<-ready
			writer.Load().CancelForTest()
			if once.CompareAndSwap(false, true) {
				close(crashed)
			}
		}
		w := b.writer(t, conn)
		writer.Store(w)
		close(ready)
		eventually(t, "the writer crashed or was done", func() bool {
			select {
			case <-crashed:
				return true
			default:
				return b.waiting(t) == 0
			}
		})
		if err := w.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		accidents -= int(at.Load()) + 1
	}
}

func TestEachEntryOnceThroughCrashes(t *testing.T) {
	b := newBench(t)
	random := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	var met [numAccidents]atomic.Int64
	var want []string
	for round := range 6 {
		for i := range 5 + random.IntN(10) {
			log := exchange.Log(random.IntN(2))
			var body strings.Builder
			for j := range 1 + random.IntN(20) {
				name := fmt.Sprintf("n%d_%d_%d", round, i, j)
				want = append(want, name)
				fmt.Fprintf(&body, "{\"module\":%[1]q,\"query\":%[1]q}\n", name)
			}
			b.taken(t, log, strings.Count(body.String(), "\n"), body.String())
		}
		b.unsettled(t, random, 4, &met)
	}
	for what := range met {
		t.Logf("accident %d: %d times", what, met[what].Load())
	}
	w := b.writer(t, nil)
	b.settle(t)
	stop(t, w)
	b.written(t, want)
}

// written checks that the two tables have exactly these names.
func (b *bench) written(t *testing.T, want []string) {
	t.Helper()
	count := map[string]int{}
	for _, name := range b.texts(t, "SELECT module FROM module_log FINAL UNION ALL SELECT query FROM query_log FINAL") {
		count[name]++
	}
	for _, name := range want {
		if count[name] != 1 {
			t.Errorf("%s is there %d times", name, count[name])
		}
		delete(count, name)
	}
	if len(count) > 0 {
		t.Errorf("%d entries that nobody sent", len(count))
	}
}

func TestClickHouseKilledMeanwhile(t *testing.T) {
	b := newBench(t)
	if !b.Embedded() {
		t.Log("the engines are external and cannot be killed; they are only used")
	}
	w := b.writer(t, nil)
	defer stop(t, w)
	var want []string
	for i := range 60 {
		name := fmt.Sprint("k", i)
		want = append(want, name)
		b.taken(t, exchange.Log(i%2), 1, fmt.Sprintf(`{"module":%[1]q,"query":%[1]q}`, name))
		if b.Embedded() && i%20 == 10 {
			b.KillClickHouse()
		}
	}
	b.settle(t)
	b.written(t, want)
}

// A stream that was lost or restored uses its sequences again.
func TestStreamLostOrRestored(t *testing.T) {
	b := newBench(t)
	var want []string
	send := func(name string) {
		want = append(want, name)
		b.taken(t, exchange.Modules, 1, fmt.Sprintf(`{"module":%q}`, name))
	}
	settle := func() {
		w := b.writer(t, nil)
		b.settle(t)
		stop(t, w)
	}
	for i := range 3 {
		send(fmt.Sprint("first", i))
	}
	settle()
	// Lost: the new stream begins at 1.
	if err := b.JetStream.DeleteStream(t.Context(), b.stream.Name); err != nil {
		t.Fatal(err)
	}
	if err := migrations.Log(t.Context(), b.JetStream, migrations.LogConfig{Namespace: b.Namespace, MaxBytes: 256 << 20}); err != nil {
		t.Fatal(err)
	}
	send("second")
	settle()
	// Restored: it ends before the written position.
	if err := b.ClickHouse.Exec(t.Context(), "INSERT INTO module_log (log, sequence, entry, module, expires) SELECT max(log), 1000, 0, 'later', now() + 1000 FROM module_log"); err != nil {
		t.Fatal(err)
	}
	want = append(want, "later")
	for i := range 3 {
		w := b.writer(t, nil)
		send(fmt.Sprint("third", i))
		b.settle(t)
		stop(t, w)
	}
	b.written(t, want)
}

func TestUnreadableMessagesAreLeftOut(t *testing.T) {
	b := newBench(t)
	for _, data := range []string{"", "x", "\xff\xff\xff\xff\x0f", "\x05\x10{\"t\":"} {
		if _, err := b.JetStream.Publish(t.Context(), b.stream.Prefix+"exchanges.modules", []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	b.taken(t, exchange.Modules, 1, `{"module":"good"}`)
	w := b.writer(t, nil)
	defer stop(t, w)
	b.settle(t)
	b.written(t, []string{"good"})
}

// Old entries are deleted when the table is merged.
func TestRetention(t *testing.T) {
	b := newBench(t)
	b.taken(t, exchange.Queries, 2, `{"query":"a"}{"query":"b"}`)
	b.taken(t, exchange.Modules, 1, `{"module":"m"}`)
	w := b.writer(t, nil)
	b.settle(t)
	stop(t, w)
	got := b.texts(t, `SELECT * FROM (
		SELECT toString(toUInt32(expires) - toUInt32(received)) FROM module_log UNION ALL
		SELECT DISTINCT toString(toUInt32(expires) - toUInt32(received)) FROM query_log) ORDER BY 1`)
	if want := []string{fmt.Sprint(14 * 24 * 3600), fmt.Sprint(7 * 24 * 3600)}; !cmp.Equal(got, want) {
		t.Errorf("entries are kept for %q seconds, want %q", got, want)
	}
	for _, statement := range []string{
		"INSERT INTO query_log (log, sequence, entry, query, expires) SELECT max(log), 1, 0, 'old', now() - 10 FROM query_log",
		"OPTIMIZE TABLE query_log FINAL",
	} {
		if err := b.ClickHouse.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.texts(t, "SELECT query FROM query_log FINAL ORDER BY query"); !cmp.Equal(got, []string{"b"}) && !cmp.Equal(got, []string{"a", "b"}) {
		t.Errorf("%q are left", got)
	}
	if got := b.texts(t, "SELECT query FROM query_log WHERE query = 'old'"); len(got) != 0 {
		t.Error("an entry whose time has come is still there")
	}
}

func TestFullAndAbsentStream(t *testing.T) {
	b := newBench(t)
	s, err := b.JetStream.Stream(t.Context(), b.stream.Name)
	if err != nil {
		t.Fatal(err)
	}
	cfg := s.CachedInfo().Config
	cfg.MaxBytes = 1000
	if _, err := b.JetStream.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	var a answer
	for range 20 {
		if a = b.post(t, exchange.Modules, `{"module":"m"}`); a.Status != 200 {
			break
		}
	}
	check := func(code string) {
		t.Helper()
		if a.Status != 503 || a.Error.Code != code || a.Header.Get("Retry-After") != "5" || a.Header.Get(door.HeaderRecorded) != "" || a.Error.RequestID != "an-id" {
			t.Errorf("answer %+v, want %s", a, code)
		}
	}
	check("log_full")
	w := b.writer(t, nil)
	b.settle(t)
	if a = b.post(t, exchange.Modules, `{"module":"m"}`); a.Status != 200 {
		t.Errorf("answer %+v after there was room again", a)
	}
	stop(t, w)
	if err := b.JetStream.DeleteStream(t.Context(), b.stream.Name); err != nil {
		t.Fatal(err)
	}
	a = b.post(t, exchange.Modules, `{"module":"m"}`)
	check("log_unavailable")
	if _, err := exchange.NewWriter(t.Context(), exchange.WriterConfig{Stream: b.stream, ClickHouse: b.ClickHouse, ModuleDays: 1, QueryDays: 1}); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("a writer without a stream: %v", err)
	}
	// For the clean-up after the test.
	if err := migrations.Log(t.Context(), b.JetStream, migrations.LogConfig{Namespace: b.Namespace, MaxBytes: 256 << 20}); err != nil {
		t.Fatal(err)
	}
}
