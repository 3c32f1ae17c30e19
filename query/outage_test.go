package query_test

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
	"github.com/errata-log/errata/test/testenv"
)

// ask calls everything that reads.
func ask(ctx context.Context, r *query.Reader) map[string]error {
	_, unfiltered := r.Find(ctx, query.Filter{}, query.Page{})
	_, filtered := r.Find(ctx, query.Filter{MinOccurrence: 2}, query.Page{})
	_, searched := r.Find(ctx, query.Filter{Search: "x"}, query.Page{})
	_, _, detail := r.Detail(ctx, errata.BookSystem, errata.Signature{1}, query.Projects{})
	return map[string]error{"list": unfiltered, "filtered list": filtered, "search": searched, "detail": detail}
}

func expectUnavailable(t *testing.T, answers map[string]error) {
	t.Helper()
	for what, err := range answers {
		var told *errata.Error
		if !errors.As(err, &told) || told.Kind != errata.KindStoreUnavailable || told.RetryAfter <= 0 || told.Err == nil {
			t.Errorf("%s: got %v, want kind %s with a wait and a cause", what, err, errata.KindStoreUnavailable)
		}
	}
}

func expectAnswers(t *testing.T, answers map[string]error) {
	t.Helper()
	for what, err := range answers {
		if err != nil && !(what == "detail" && errata.KindOf(err) == errata.KindNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestNobodyListens(t *testing.T) {
	conn, err := clickhouse.Open(&clickhouse.Options{Addr: []string{"127.0.0.1:1"}, DialTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	expectUnavailable(t, ask(t.Context(), query.New(query.Config{ClickHouse: conn})))
}

// awaitPing waits until every pooled connection answers or was replaced.
func awaitPing(t *testing.T, env *testenv.Env) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for good := 0; good < 10; {
		if env.ReadOnlyClickHouse.Ping(ctx) == nil {
			good++
		} else {
			good = 0
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			t.Fatal("the engine was frozen, goes on and does not answer")
		}
	}
}

func TestFrozenEngine(t *testing.T) {
	env := testenv.New(t)
	reader := query.New(query.Config{ClickHouse: env.ReadOnlyClickHouse})
	expectAnswers(t, ask(t.Context(), reader))
	if !env.Embedded() {
		t.Log("an external ClickHouse cannot be frozen; TestNobodyListens covers the rest")
		return
	}
	env.FreezeClickHouse()
	reader.SetPatience(200 * time.Millisecond)
	frozen := ask(t.Context(), reader)
	env.SignalClickHouse(syscall.SIGCONT)
	expectUnavailable(t, frozen)
	reader.SetPatience(10 * time.Second)
	// Connections that were opened while ClickHouse was frozen may break when it
	// goes on. As soon as it answers a ping, every query must have an answer.
	awaitPing(t, env)
	expectAnswers(t, ask(t.Context(), reader))
	env.KillClickHouse()
	awaitPing(t, env)
	expectAnswers(t, ask(t.Context(), reader))
}

// TestCallerGivesUp checks that a caller who cancels gets no error of an outage.
func TestCallerGivesUp(t *testing.T) {
	env := testenv.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for what, err := range ask(ctx, query.New(query.Config{ClickHouse: env.ClickHouse})) {
		if !errors.Is(err, context.Canceled) || errata.KindOf(err) != errata.KindInternal {
			t.Errorf("%s: got %v, want %v without another kind", what, err, context.Canceled)
		}
	}
}
