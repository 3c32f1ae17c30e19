package selfcheck_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/query"
	"github.com/errata-log/errata/selfcheck"
	"github.com/errata-log/errata/signature"
	"github.com/errata-log/errata/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// board notes which alarms were raised, and which are raised now.
type board struct {
	mu       sync.Mutex
	raised   map[string]string // detail, by name
	standing map[string]string // hint, by name
}

func (b *board) Raise(name, detail, hint string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.raised[name] == "" {
		b.raised[name] = detail
	}
	b.standing[name] = hint
}

func (b *board) Clear(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.standing, name)
}

// house has the parts of a service that a self-check needs, and in model the counts
// that the records must have.
type house struct {
	*testenv.Env
	t         *testing.T
	log       eventlog.Log
	appender  *eventlog.Appender
	commander *eventlog.Commander
	projector *projector.Projector
	first     *selfcheck.FirstLook
	checker   *selfcheck.Checker
	reader    *query.Reader
	board     *board
	mark      string
	sole      bool
	ahead     time.Duration               // of the checker's clock
	undecided error                       // the gap that Undecided returns
	met       error                       // the gap that a rebuild meets
	rebuilt   int                         // how often the records were made again
	take      func(context.Context) error // puts tables of another node in the place of these; nil: there is none
	model     map[string]uint64
	sent      int
	stack     int // bytes that are added to the context of an event
}

func newHouse(t *testing.T) *house {
	t.Helper()
	env := testenv.New(t)
	if !env.Embedded() {
		t.Skip("only the files of an embedded ClickHouse can be damaged") // reason: there is no file of an external one to reach
	}
	h := &house{Env: env, t: t, sole: true, model: map[string]uint64{}, mark: filepath.Join(t.TempDir(), "mark.json"),
		board: &board{raised: map[string]string{}, standing: map[string]string{}},
		log: eventlog.Log{
			NATS: env.NATS, JetStream: env.JetStream,
			Stream: migrations.StreamName(env.Namespace), Prefix: migrations.SubjectPrefix(env.Namespace),
		}}
	var err error
	if h.appender, err = eventlog.NewAppender(eventlog.AppenderConfig{Log: h.log}); err != nil {
		t.Fatal(err)
	}
	if h.commander, err = eventlog.NewCommander(eventlog.CommanderConfig{Log: h.log, Answers: projector.NewStore(env.ClickHouse, 0)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(h.appender.Close(context.WithoutCancel(t.Context())), h.commander.Close()); err != nil {
			t.Error(err)
		}
	})
	h.start()
	return h
}

func (h *house) logger() *slog.Logger { return slog.New(slog.NewTextHandler(h.t.Output(), nil)) }

// start starts projector, checker and reader, as a start of the service does.
func (h *house) start() {
	h.t.Helper()
	var err error
	if h.projector, err = projector.NewUnlocated(projector.Config{Log: h.log, ClickHouse: h.ClickHouse, Logger: h.logger(), Elsewhere: h.take != nil}); err != nil {
		h.t.Fatal(err)
	}
	h.first = selfcheck.NewFirstLook(h.projector.Store().Merges())
	for range 5 { // the first use of a connection from before a kill fails
		if err = errors.Join(h.first.Hold(h.t.Context()), h.projector.Locate(h.t.Context())); err == nil {
			break
		}
	}
	if err != nil {
		h.t.Fatal(err)
	}
	h.projector.Start()
	h.t.Cleanup(h.stop)
	if h.checker, err = selfcheck.New(selfcheck.Config{
		ClickHouse: h.ClickHouse, Projector: h.projector, Log: h.log, Alarms: h.board, Rebuild: h.rebuild,
		Sole: h.sole, First: h.first, Take: h.take, Mark: h.mark, Patience: 5 * time.Second, Logger: h.logger(),
		Now: func() time.Time { return time.Now().Add(h.ahead) }, Undecided: func() error { return h.undecided },
	}); err != nil {
		h.t.Fatal(err)
	}
	h.reader = query.New(query.Config{ClickHouse: h.ReadOnlyClickHouse, Trust: h.checker})
}

func (h *house) stop() {
	if err := h.projector.Stop(context.WithoutCancel(h.t.Context())); err != nil {
		h.t.Error(err)
	}
}

func (h *house) rebuild(ctx context.Context, progress func(done, target uint64)) error {
	h.rebuilt++
	_, err := projector.Rebuild(ctx, h.projector, projector.RebuildConfig{
		MaySwap: func() error { return h.met },
		Force:   true, Distrust: true, Progress: func(p projector.RebuildProgress) { progress(p.Sequence, p.Target) },
		Connect: func(database string) (driver.Conn, error) { return h.Connect(ctx, database) },
	})
	return err
}

// send appends an event for each problem and waits until they are folded, in one
// insert.
func (h *house) send(problems ...string) {
	h.t.Helper()
	var events []errata.Event
	for _, name := range problems {
		h.sent++
		at := time.Now().UTC().Truncate(time.Millisecond)
		events = append(events, errata.Event{
			ID: errata.NewEventID(1, fmt.Sprint(h.sent)), Project: 1, Book: errata.BookSystem, Level: errata.LevelError,
			Signature: signature.Sign(signature.Identity{Book: errata.BookSystem, Project: 1, Template: name}),
			Time:      at, Received: at, Message: name, UserID: 7, Payload: fmt.Appendf(nil, `{"id":%d,"stack":%q}`, h.sent, random(h.stack)),
		})
		h.model[name]++
	}
	if err := h.appender.Append(h.t.Context(), events); err != nil {
		h.t.Fatal(err)
	}
	h.barrier()
}

// random returns n bytes of text that hardly compress.
func random(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = byte('A' + rand.IntN(60))
	}
	return string(text)
}

// barrier returns when everything on the log is visible.
func (h *house) barrier() {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	answer, err := h.commander.Do(ctx, eventlog.CommandBarrier, nil)
	var told struct{ Sequence uint64 }
	if err == nil {
		err = json.Unmarshal(answer, &told)
	}
	if err != nil || told.Sequence == 0 {
		h.t.Fatalf("barrier answered %s, %v", answer, err)
	}
}

// fill makes parts of several ages and stops merges, so that the parts stay.
func (h *house) fill() {
	h.t.Helper()
	if err := h.checker.Look(h.t.Context()); err != nil { // the first one lets merges go on
		h.t.Fatal(err)
	}
	h.exec("SYSTEM STOP MERGES records")
	h.t.Cleanup(func() {
		_ = h.ClickHouse.Exec(context.WithoutCancel(h.t.Context()), "SYSTEM START MERGES records") // best effort: the database goes
	})
	for n := range 4 {
		h.send("often broken", fmt.Sprintf("broken thing %c", 'a'+n), fmt.Sprintf("broken thing %c", 'p'+n))
	}
}

func (h *house) exec(statement string) {
	h.t.Helper()
	if err := h.ClickHouse.Exec(h.t.Context(), statement); err != nil {
		h.t.Fatalf("%s: %v", statement, err)
	}
}

// folders returns the folders of the active parts of a table, the oldest first.
func (h *house) folders(table string) (paths []string) {
	h.t.Helper()
	rows, err := h.ClickHouse.Query(h.t.Context(), "SELECT path FROM system.parts WHERE database = currentDatabase() AND table = ? AND active ORDER BY max_block_number", table)
	if err != nil {
		h.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var path string
		if err := rows.Scan(&path); err != nil {
			h.t.Fatal(err)
		}
		paths = append(paths, path)
	}
	if err := rows.Err(); err != nil {
		h.t.Fatal(err)
	}
	return paths
}

// filled returns the folders of those parts of records that hold more than
// checkpoints.
func (h *house) filled() (paths []string) {
	h.t.Helper()
	for _, path := range h.folders("records") {
		var rows uint64
		name := filepath.Base(path)
		if err := h.ClickHouse.QueryRow(h.t.Context(), "SELECT countIf(book > 'checkpoint') FROM records WHERE _part = ?", name).Scan(&rows); err != nil {
			h.t.Fatal(err)
		}
		if rows > 0 {
			paths = append(paths, path)
		}
	}
	return paths
}

// file returns the first file of the part that matches the pattern.
func (h *house) file(folder, pattern string) string {
	h.t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil || len(found) == 0 {
		h.t.Fatalf("no file %s in %s (%v)", pattern, folder, err)
	}
	return found[0]
}

// counts reads all records through the reader, by message.
func (h *house) counts(search string) (map[string]uint64, error) {
	filter := query.Filter{Search: search}
	list, err := h.reader.Find(h.t.Context(), filter, query.Page{Limit: 100})
	got := map[string]uint64{}
	for _, r := range list.Records {
		got[r.Message] = r.Count
	}
	return got, err
}

// answers fails the test unless list and search show the model.
func (h *house) answers(when string) {
	h.t.Helper()
	for _, search := range []string{"", "broken"} {
		got, err := h.counts(search)
		if err != nil || !maps.Equal(got, h.model) {
			h.t.Errorf("%s, the list (search %q) shows %v (%v), want %v", when, search, got, err, h.model)
		}
	}
	user := int64(7)
	list, err := h.reader.Find(h.t.Context(), query.Filter{UserID: &user}, query.Page{Limit: 100})
	if err != nil || int(list.Total) != len(h.model) {
		h.t.Errorf("%s, the list of a user shows %d of %d records (%v)", when, list.Total, len(h.model), err)
	}
}

// mended looks until no damage is left, and then compares everything with the model.
// The first look must raise the alarm with a detail that contains named.
func (h *house) mended(alarm, named string) {
	h.t.Helper()
	if err := h.checker.Look(h.t.Context()); err != nil {
		h.t.Fatalf("the look that must notice it: %v", err)
	}
	if detail := h.board.raised[alarm]; !strings.Contains(detail, named) {
		h.t.Errorf("the alarm %s says %q, want something of %q; raised: %v", alarm, detail, named, h.board.raised)
	}
	for try := 0; h.checker.Whole() != nil; try++ {
		if try == 5 {
			h.t.Fatalf("not mended: %v", h.checker.Last().Damage)
		}
		if err := h.checker.Look(h.t.Context()); err != nil {
			h.t.Fatal(err)
		}
	}
	h.send("seen afterwards, broken")
	h.barrier()
	h.whole()
}

// whole fails the test unless tables, alarms and answers are as the model says.
func (h *house) whole() {
	h.t.Helper()
	h.answers("mended")
	for range 2 {
		if err := h.checker.Look(h.t.Context()); err != nil || h.checker.Whole() != nil {
			h.t.Errorf("mended, the check says %v, %v", h.checker.Last().Damage, err)
		}
	}
	if len(h.board.standing) > 0 || h.checker.Primary() {
		h.t.Errorf("mended, alarms stand: %v, rows alone are read: %t", h.board.standing, h.checker.Primary())
	}
	cp, have, err := h.projector.Store().Count(h.t.Context(), projector.CountOptions{Primary: true})
	if err != nil || cp.Totals != have {
		h.t.Errorf("mended, the checkpoint says %+v and the table %+v (%v)", cp.Totals, have, err)
	}
	var hours uint64
	if err := h.ClickHouse.QueryRow(h.t.Context(), "SELECT sum(count) FROM hourly WHERE book > 'checkpoint'").Scan(&hours); err != nil || hours != have.System.Count {
		h.t.Errorf("mended, the hours count %d (%v), the records %d", hours, err, have.System.Count)
	}
	for name := range h.model {
		_, payload, err := h.reader.Detail(h.t.Context(), errata.BookSystem, signature.Sign(signature.Identity{Book: errata.BookSystem, Project: 1, Template: name}), query.Projects{})
		if err != nil || !strings.Contains(string(payload), "id") {
			h.t.Errorf("mended, the context of %q is %s (%v)", name, payload, err)
		}
	}
}
