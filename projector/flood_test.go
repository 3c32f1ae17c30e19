package projector_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/signature"
)

// flooded counts what a flood of new problems left in the records.
type flooded struct {
	records, overflow int64
	count, counted    int64 // of all records, and of the overflow records
	hours             uint64
}

func (l *ledger) flooded() (f flooded) {
	l.t.Helper()
	row := l.ClickHouse.QueryRow(l.t.Context(), `
		SELECT sum(sign), sumIf(sign, startsWith(signature, 'overflow')),
		       sum(toInt64(count) * sign), sumIf(toInt64(count) * sign, startsWith(signature, 'overflow')),
		       (SELECT sum(count) FROM hourly WHERE book != 'checkpoint')
		FROM records WHERE book != 'checkpoint'`)
	if err := row.Scan(&f.records, &f.overflow, &f.count, &f.counted, &f.hours); err != nil {
		l.t.Fatal(err)
	}
	return f
}

// problem is the only event of a new problem.
func problem(n int, class string) errata.Event {
	e := event(fmt.Sprint("problem ", n), fmt.Sprint("event ", n))
	e.Class = class
	return e
}

// limit puts the budget of new records on the log.
func (l *ledger) limit(perHour int) {
	l.t.Helper()
	body := fmt.Appendf(nil, `{"v":1,"after":{"new_records_per_hour":%d}}`, perHour)
	if _, err := l.JetStream.Publish(l.t.Context(), l.log.Prefix+"set.limits", body); err != nil {
		l.t.Fatal(err)
	}
}

// TestAFloodOfNewProblems: after the budget of an hour is spent, new problems share
// the records of their classes. No event is lost, a restart and a replay change
// nothing, and overflow records can be deleted and resolved like others.
func TestAFloodOfNewProblems(t *testing.T) {
	const budget, flood = 10_000, 30_000
	l := newLedger(t)
	_, stop := l.start()
	l.append(event("before the limit", "0"))
	l.limit(budget)
	classes := []string{"TypeError", "", "PDOException"}
	for from := 0; from < flood; from += 1000 {
		events := make([]errata.Event, 1000)
		for i := range events {
			events[i] = problem(from+i, classes[i%len(classes)])
		}
		l.append(events...)
		if from == flood/2 {
			l.barrier()
			stop()
			_, stop = l.start()
		}
	}
	l.append(event("before the limit", "again"), problem(5, "TypeError")) // known; sent again
	l.barrier()
	want := flooded{records: 1 + budget + 3, overflow: 3, count: 2 + flood, counted: flood - budget, hours: 2 + flood}
	if got := l.flooded(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}

	l.afterTheFlood(flood)
	stop()
	p, err := projector.New(t.Context(), l.config())
	if err != nil {
		t.Fatal(err)
	}
	comparison, err := projector.Rebuild(context.WithoutCancel(t.Context()), p, l.rebuild())
	if err != nil {
		t.Fatal(err)
	}
	if !comparison.Equal() || comparison.Live.Records != 1+budget+3 {
		t.Errorf("rebuilt: %+v", comparison)
	}
}

// do carries out a command and wants so many changed records.
func (l *ledger) do(name string, body any, want uint64) {
	l.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		l.t.Fatal(err)
	}
	answer, err := l.commander.Do(l.t.Context(), name, json.RawMessage(data))
	if err != nil {
		l.t.Fatal(err)
	}
	var changed errata.Changed
	if err := json.Unmarshal(answer, &changed); err != nil || changed.Total() != want {
		l.t.Fatalf("%s answered %s, %v", name, answer, err)
	}
}

// afterTheFlood deletes the overflow record of TypeErrors and resolves that of
// plain messages. Both are seen again, and the first is a new record.
func (l *ledger) afterTheFlood(next int) {
	l.t.Helper()
	typeErrors, plain := signature.SignOverflow(errata.BookSystem, 1, "TypeError"), signature.SignOverflow(errata.BookSystem, 1, "")
	l.do(eventlog.CommandDelete, eventlog.Signatures{Signatures: []string{typeErrors.String()}}, 1)
	l.do(eventlog.CommandStatus, eventlog.StatusMove{Signatures: []string{plain.String()}, Status: errata.StatusResolved}, 1)
	l.append(problem(next, "TypeError"), problem(next+1, ""))
	l.barrier()
	row := l.ClickHouse.QueryRow(l.t.Context(), `SELECT count, status = 'open' AND regressed, message_preview, exception_class, file FROM records FINAL WHERE signature = unhex(?)`, plain.String())
	var count uint64
	var regressed bool
	var message, class, file string
	if err := row.Scan(&count, &regressed, &message, &class, &file); err != nil {
		l.t.Fatal(err)
	}
	const wantMessage = "New problems without a class, or of many classes, counted together: the project has made as many new records as it may in an hour"
	if count < 6000 || !regressed || message != wantMessage || class != "" || file != "" {
		l.t.Errorf("the overflow record of plain messages: count %d, regressed %t, %q, class %q, file %q", count, regressed, message, class, file)
	}
	var payload string
	row = l.ClickHouse.QueryRow(l.t.Context(), `SELECT r.count, payload FROM (SELECT id, count FROM records FINAL WHERE signature = unhex(?)) AS r JOIN contexts AS c ON c.id = r.id`, typeErrors.String())
	if err := row.Scan(&count, &payload); err != nil || count != 1 || payload != fmt.Sprintf(`{"id":"event %d"}`, next) {
		l.t.Errorf("the overflow record after its delete: count %d, payload %s, %v", count, payload, err)
	}
}
