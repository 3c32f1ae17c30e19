package projector_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/signature"
	"github.com/errata-log/errata/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// ledger is a log with a projection on real engines.
type ledger struct {
	*testenv.Env
	t         testing.TB
	log       eventlog.Log
	appender  *eventlog.Appender
	commander *eventlog.Commander
	window    string // folder for event ids
}

func newLedger(t testing.TB) *ledger {
	t.Helper()
	env := testenv.New(t)
	l := &ledger{Env: env, t: t, log: eventlog.Log{
		NATS: env.NATS, JetStream: env.JetStream,
		Stream: migrations.StreamName(env.Namespace), Prefix: migrations.SubjectPrefix(env.Namespace),
	}}
	var err error
	if l.appender, err = eventlog.NewAppender(eventlog.AppenderConfig{Log: l.log}); err != nil {
		t.Fatal(err)
	}
	if l.commander, err = eventlog.NewCommander(eventlog.CommanderConfig{
		Log: l.log, Answers: projector.NewStore(env.ClickHouse, 0),
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(l.appender.Close(context.WithoutCancel(t.Context())), l.commander.Close()); err != nil {
			t.Error(err)
		}
	})
	return l
}

func (l *ledger) config() projector.Config {
	return projector.Config{
		Log: l.log, ClickHouse: l.ClickHouse,
		Logger:       slog.New(slog.NewTextHandler(l.t.Output(), nil)),
		WindowFolder: l.window, SpillFolder: l.t.TempDir(),
	}
}

// start runs a projector until the test or the returned function stops it.
func (l *ledger) start() (p *projector.Projector, stop func()) {
	l.t.Helper()
	p, err := projector.New(l.t.Context(), l.config())
	for range 5 { // a connection from before a kill fails when it is used
		if err == nil {
			break
		}
		l.t.Logf("start again: %v", err)
		p, err = projector.New(l.t.Context(), l.config())
	}
	if err != nil {
		l.t.Fatal(err)
	}
	return p, l.run(p)
}

// run starts the projector, which runs until the test or the returned function stops it.
func (l *ledger) run(p *projector.Projector) (stop func()) {
	p.Start()
	stop = func() {
		if err := p.Stop(context.WithoutCancel(l.t.Context())); err != nil {
			l.t.Error(err)
		}
	}
	l.t.Cleanup(stop)
	return stop
}

func (l *ledger) append(events ...errata.Event) {
	l.t.Helper()
	if err := l.appender.Append(l.t.Context(), events); err != nil {
		l.t.Fatal(err)
	}
}

// barrier returns when everything that was appended before is in the records.
func (l *ledger) barrier() {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), 2*time.Minute)
	defer cancel()
	answer, err := l.commander.Do(ctx, eventlog.CommandBarrier, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	var told struct{ Sequence uint64 }
	if err := json.Unmarshal(answer, &told); err != nil || told.Sequence == 0 {
		l.t.Fatalf("barrier answered %s, %v", answer, err)
	}
}

// checkpoint reads the checkpoint from the tables; the status of the projector
// follows a moment later.
func (l *ledger) checkpoint(p *projector.Projector) projector.Checkpoint {
	l.t.Helper()
	cp, err := p.Store().Checkpoint(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	return cp
}

// row is a record as the table shows it.
type row struct {
	Count    uint64
	Payloads []string
}

// records reads the live records with their payloads, by message.
func (l *ledger) records() map[string]row {
	l.t.Helper()
	got := map[string]row{}
	rows, err := l.ClickHouse.Query(l.t.Context(), `
		SELECT r.message_preview, r.live, r.count, p.payloads
		FROM (SELECT book, signature, any(message_preview) AS message_preview, sum(sign) AS live, sum(toInt64(count) * sign) AS count
			FROM records WHERE book != 'checkpoint' GROUP BY book, signature) AS r
		LEFT JOIN (SELECT book, signature, groupArray(payload) AS payloads FROM (SELECT * FROM contexts FINAL WHERE gone = 0) GROUP BY book, signature) AS p
		ON r.book = p.book AND r.signature = p.signature`)
	if err != nil {
		l.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var message string
		var live, count int64
		var r row
		if err := rows.Scan(&message, &live, &count, &r.Payloads); err != nil {
			l.t.Fatal(err)
		}
		if live != 1 {
			l.t.Errorf("record %q has %d live rows, want 1", message, live)
		}
		r.Count = uint64(count)
		got[message] = r
	}
	if err := rows.Err(); err != nil {
		l.t.Fatal(err)
	}
	return got
}

// want checks the counts by message.
func (l *ledger) want(counts map[string]uint64) map[string]row {
	l.t.Helper()
	got := l.records()
	for message, n := range counts {
		if got[message].Count != n {
			l.t.Errorf("%s: count %d, want %d", message, got[message].Count, n)
		}
	}
	if len(got) != len(counts) {
		l.t.Errorf("%d records, want %d: %v", len(got), len(counts), got)
	}
	return got
}

// event is a sighting of the problem with that message; its payload names it.
func event(message, id string) errata.Event {
	at := time.UnixMilli(1_795_231_120_683).UTC()
	return errata.Event{
		ID: errata.NewEventID(1, id), Project: 1, Book: errata.BookSystem, Level: errata.LevelError,
		Signature: signature.Sign(signature.Identity{Book: errata.BookSystem, Project: 1, Template: message}),
		Time:      at, Received: at, Message: message, Payload: fmt.Appendf(nil, `{"id":%q}`, id),
	}
}

func TestEventsBecomeRecords(t *testing.T) {
	l := newLedger(t)
	p, _ := l.start()
	l.append(event("a", "1"), event("b", "2"), event("a", "3"))
	l.append(event("a", "1"), event("a", "4")) // 1 was sent again
	l.barrier()
	got := l.want(map[string]uint64{"a": 3, "b": 1})
	if len(got["a"].Payloads) != 1 || got["a"].Payloads[0] != `{"id":"1"}` {
		t.Errorf("payloads of a: %v, want that of the first sighting", got["a"].Payloads)
	}
	cp := l.checkpoint(p)
	if cp.Events != 4 || cp.Duplicates != 1 {
		t.Errorf("checkpoint %+v, want 4 events and 1 duplicate", cp)
	}
}

// TestRestartGoesOn: a projector that starts again counts nothing twice and still
// knows the earlier ids.
func TestRestartGoesOn(t *testing.T) {
	l := newLedger(t)
	_, stop := l.start()
	l.append(event("a", "1"))
	l.barrier()
	stop()
	l.append(event("a", "2"), event("a", "1")) // while nobody folds
	l.start()
	l.append(event("a", "1"))
	l.barrier()
	l.want(map[string]uint64{"a": 2})
}

// TestRacingProjectors: two projectors on one shard waste work, but count right.
func TestRacingProjectors(t *testing.T) {
	l := newLedger(t)
	l.start()
	l.start()
	var done sync.WaitGroup
	want := map[string]uint64{}
	for c := range 4 {
		message := fmt.Sprint("problem ", c)
		want[message] = 50
		done.Go(func() {
			for i := range 50 {
				l.append(event(message, fmt.Sprint(c, "-", i)))
			}
		})
	}
	done.Wait()
	l.barrier()
	l.want(want)
}

// TestClickHouseKilled: the child dies again and again while events come in.
func TestClickHouseKilled(t *testing.T) {
	l := newLedger(t)
	l.NeedEmbedded()
	l.start()
	want := uint64(0)
	for round := range 5 {
		for i := range 40 {
			l.append(event("a", fmt.Sprint(round, "-", i)))
			want++
		}
		l.KillClickHouse()
	}
	l.barrier()
	l.want(map[string]uint64{"a": want})
}

func TestUnreadableBlockIsLeftOut(t *testing.T) {
	l := newLedger(t)
	p, _ := l.start()
	l.append(event("a", "1"))
	if _, err := l.JetStream.Publish(t.Context(), l.log.Prefix+"ev.0", []byte("no block")); err != nil {
		t.Fatal(err)
	}
	l.append(event("a", "2"))
	l.barrier()
	l.want(map[string]uint64{"a": 2})
	if n := l.checkpoint(p).Poison; n != 1 {
		t.Errorf("%d unreadable blocks, want 1", n)
	}
}

func TestUnknownCommandIsAnswered(t *testing.T) {
	l := newLedger(t)
	l.start()
	answer, err := l.commander.Do(t.Context(), "dance", nil)
	if err != nil {
		t.Fatal(err)
	}
	var told struct{ Error string }
	if err := json.Unmarshal(answer, &told); err != nil || told.Error == "" {
		t.Errorf("answered %s, want an error", answer)
	}
}

// TestOtherLogIsRefused: sequences of one log say nothing about another.
func TestOtherLogIsRefused(t *testing.T) {
	l := newLedger(t)
	_, stop := l.start()
	l.append(event("a", "1"))
	l.barrier()
	stop()
	if err := l.JetStream.DeleteStream(t.Context(), l.log.Stream); err != nil {
		t.Fatal(err)
	}
	if err := migrations.Log(t.Context(), l.JetStream, migrations.LogConfig{Namespace: l.Namespace, MaxBytes: 16 << 20}); err != nil {
		t.Fatal(err)
	}
	if _, err := projector.New(t.Context(), l.config()); !errors.Is(err, projector.ErrOtherLog) {
		t.Errorf("got %v, want ErrOtherLog", err)
	}
}

// TestManyRecords: more records than one batch holds, all seen again after a
// restart. Some signatures end in zero bytes, which must not be cut off.
func TestManyRecords(t *testing.T) {
	defer projector.SetBatchSize(25_000)()
	l := newLedger(t)
	const n = 60_000
	send := func(round int) {
		for from := 0; from < n; from += 5000 {
			events := make([]errata.Event, 5000)
			for i := range events {
				events[i] = event(fmt.Sprint(from+i), fmt.Sprint(round, "-", from+i))
			}
			l.append(events...)
		}
	}
	for round := range 2 {
		_, stop := l.start()
		send(round)
		l.barrier()
		stop()
	}
	var live, count int64
	row := l.ClickHouse.QueryRow(t.Context(), `SELECT sum(sign), sum(toInt64(count) * sign) FROM records WHERE book != 'checkpoint'`)
	if err := row.Scan(&live, &count); err != nil {
		t.Fatal(err)
	}
	if live != n || count != 2*n {
		t.Errorf("%d records with %d events, want %d with %d", live, count, n, 2*n)
	}
}
