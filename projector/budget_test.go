package projector

import (
	"encoding/json"
	"log/slog"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/signature"
)

// hourKey is one hour of one record at one level.
type hourKey struct {
	recordKey
	id    errata.Position
	hour  int64
	level errata.Level
}

// ledgerModel folds a log fact by fact and event by event, in the simplest way.
type ledgerModel struct {
	window   *window
	limit    uint64
	own      map[uint64]uint64 // limits of projects in the place of limit
	hour     int64
	behind   int
	records  map[recordKey]errata.Record
	payloads map[errata.Position]string
	hours    map[hourKey]uint64
	deployed DeploymentRows
	occurred OccurrenceRows
	spent    map[uint64]uint64 // new records of this hour, by project
	classes  map[uint64]uint64 // new overflow records by class
}

func newLedgerModel() *ledgerModel {
	return &ledgerModel{
		window: newWindow(maxWindowIDs, 0), records: map[recordKey]errata.Record{}, payloads: map[errata.Position]string{},
		hours: map[hourKey]uint64{}, deployed: DeploymentRows{}, occurred: OccurrenceRows{}, spent: map[uint64]uint64{}, classes: map[uint64]uint64{}, own: map[uint64]uint64{},
	}
}

func (m *ledgerModel) fact(t *rapid.T, f eventlog.Fact) {
	switch f.Kind {
	case eventlog.FactSetting:
		m.setting(t, f)
	case eventlog.FactCommand:
		m.command(t, f)
	default:
		block, err := eventlog.DecodeBlock(f.Data, nil)
		if err != nil {
			t.Fatal(err)
		}
		m.clock(block.Received / millisPerHour)
		m.window.begin(f.Sequence, block.Received, block.Len())
		block.Entries(func(i int, entry eventlog.Entry) {
			e, err := entry.Event()
			if err != nil {
				t.Fatal(err)
			}
			if !m.window.add(e.ID) {
				m.event(e, errata.PositionOf(f.Sequence, i))
			}
		})
	}
}

func (m *ledgerModel) setting(t *rapid.T, f eventlog.Fact) {
	var body struct {
		After struct {
			ID      uint64
			Foreign bool
			Limit   uint64 `json:"new_records_per_hour"`
			Limits  struct {
				Limit *uint64 `json:"new_records_per_hour"`
			}
		}
	}
	if err := json.Unmarshal(f.Data, &body); err != nil {
		t.Fatal(err)
	}
	switch {
	case body.After.Foreign:
	case f.Name == settingLimits:
		m.limit = body.After.Limit
	case body.After.Limits.Limit == nil:
		delete(m.own, body.After.ID)
	default:
		m.own[body.After.ID] = *body.After.Limits.Limit
	}
}

// limitOf is how many new records the project may have in an hour, 0 for any number.
func (m *ledgerModel) limitOf(project uint64) uint64 {
	if limit, own := m.own[project]; own {
		return limit
	}
	return m.limit
}

// clock follows the blocks, and falls back when 64 in a row are much older.
func (m *ledgerModel) clock(hour int64) {
	if m.behind++; hour >= m.hour-1 {
		m.behind = 0
	}
	if hour > m.hour || m.behind == 64 {
		m.hour, m.behind = hour, 0
		clear(m.spent)
		clear(m.classes)
	}
}

func (m *ledgerModel) command(t *rapid.T, f eventlog.Fact) {
	var body eventlog.StatusMove
	if err := json.Unmarshal(f.Data, &body); err != nil {
		t.Fatal(err)
	}
	keys, err := keysOf(body.Signatures)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		r, ok := m.records[key]
		switch {
		case !ok:
		case f.Name == eventlog.CommandDelete:
			delete(m.records, key)
			delete(m.payloads, r.ID)
		default:
			r.Status, r.Regressed, r.Version = body.Status, false, errata.PositionOf(f.Sequence, 0)
			m.records[key] = r
		}
	}
}

func (m *ledgerModel) event(e errata.Event, at errata.Position) {
	first := errata.Record{
		Book: e.Book, Signature: e.Signature, Level: e.Level, File: e.File, Line: e.Line, Message: e.Message, Class: e.Class,
		URI: e.URI, Method: e.Method, UserID: e.UserID, IP: e.IP,
	}
	if _, exists := m.records[recordKey{e.Book, e.Signature}]; !exists && m.limitOf(e.Project) > 0 {
		if m.spent[e.Project] < m.limitOf(e.Project) {
			m.spent[e.Project]++
		} else {
			first = m.overflow(e)
		}
	}
	key := recordKey{e.Book, first.Signature}
	r, exists := m.records[key]
	if !exists {
		r = first
		r.ID, r.FirstSeen, r.LastSeen, r.Status = at, e.Time, e.Time, errata.StatusOpen
		if first.Signature == e.Signature { // not an overflow record
			r.Noise = e.Noise
			if e.Mute {
				r.Status = errata.StatusMuted
			}
		}
		m.payloads[at] = string(e.Payload)
	}
	r.Count++
	r.Version = at
	r.Level = max(r.Level, e.Level)
	if e.Time.Before(r.FirstSeen) {
		r.FirstSeen = e.Time
	}
	if e.Time.After(r.LastSeen) {
		r.LastSeen = e.Time
	}
	if r.Status == errata.StatusResolved {
		r.Status, r.Regressed = errata.StatusOpen, true
	}
	ModelDeploy(&r, m.deployed, e)
	ModelOccur(r, m.occurred, e, at)
	m.records[key] = r
	m.hours[hourKey{key, r.ID, e.Time.UnixMilli() / millisPerHour, e.Level}]++
}

// overflow is the record that counts an event for which there is no budget.
func (m *ledgerModel) overflow(e errata.Event) errata.Record {
	class := e.Class
	if _, exists := m.records[recordKey{e.Book, signature.SignOverflow(e.Book, e.Project, class)}]; !exists && class != "" {
		if m.classes[e.Project] < maxOverflowClasses {
			m.classes[e.Project]++
		} else {
			class = ""
		}
	}
	return errata.Record{Book: e.Book, Signature: signature.SignOverflow(e.Book, e.Project, class), Level: e.Level, Class: class, Message: overflowMessage(class), UserID: e.UserID, IP: e.IP}
}

// tables stands for the tables in ClickHouse, and commits batches as the committer
// does.
type tables struct {
	cp       Checkpoint
	spent    spending
	records  map[recordKey]errata.Record
	payloads map[errata.Position]string
	hours    map[hourKey]uint64
	deployed DeploymentRows
	occurred OccurrenceRows
	rolled   rolledTo
	events   uint64
}

func (c *tables) current(keys []recordKey) map[recordKey]*errata.Record {
	old := map[recordKey]*errata.Record{}
	for _, key := range keys {
		if r, ok := c.records[key]; ok {
			old[key] = &r
		}
	}
	return old
}

// changes are what the batch changes.
func (c *tables) changes(t *rapid.T, b *batch) []change {
	cmd := parseCommand(b.command)
	old := c.current(withCommand(b, cmd))
	if c.cp.Budget.Turn != b.budget.Turn {
		c.spent = spending{}
	}
	if refused := b.overBudget(old, c.spent); len(refused) > 0 {
		maps.Copy(old, c.current(overflowKeys(refused)))
		b.overflow(refused, old, c.spent)
	}
	changes, unreadable := changesOf(b, withCommand(b, cmd), old, nil)
	if len(unreadable) > 0 {
		t.Fatalf("unreadable: %v", unreadable)
	}
	if cmd != nil {
		cmd.apply(changes)
	}
	return changes
}

func (c *tables) commit(t *rapid.T, b *batch) {
	changes := c.changes(t, b)
	for _, table := range Rollups {
		c.rollUp(t, b, changes, table)
	}
	for _, ch := range changes {
		if ch.removed() {
			delete(c.payloads, ch.old.ID)
		}
		if ch.created() {
			c.payloads[ch.now.ID] = string(ch.payload)
		}
		delete(c.records, ch.key)
		if ch.now != nil {
			c.records[ch.key] = *ch.now
		}
	}
	c.events += b.events
	to := c.cp.next(b.last)
	to.Events = c.events
	to.WindowFrom, to.WindowTime, to.Budget = b.windowFrom, b.windowTime, b.budget
	to.Budget.Spent = c.spent.encode()
	text, err := to.encode()
	if err != nil {
		t.Fatal(err)
	}
	if c.cp, err = decodeCheckpoint(to.Row, to.Events, text, 1); err != nil || c.cp != to {
		t.Fatalf("the checkpoint %+v came back as %+v, %v", to, c.cp, err)
	}
	var ok bool
	if c.spent, ok = openSpending(c.cp.Budget.Spent); !ok {
		t.Fatal(c.cp.Budget.Spent)
	}
}

// begin makes a session that begins at the checkpoint.
func (c *tables) begin() *session {
	p := &Projector{cfg: Config{Logger: slog.New(slog.DiscardHandler)}}
	p.metrics = newMetrics(nil, func() float64 { return 0 })
	s := &session{p: p, window: newWindow(maxWindowIDs, c.cp.WindowTime), start: c.cp, budget: c.cp.Budget, rolled: c.rolled}
	s.budget.Spent = ""
	return s
}

// fold folds the log, cut into batches and interrupted at random places.
func (c *tables) fold(t *rapid.T, log []eventlog.Fact) {
	s := c.begin()
	b := newBatch(s.rolled)
	flush := func() {
		for more := true; more; {
			c.commit(t, b)
			b = newBatch(s.rolled)
			more = s.held != nil
			if err := s.foldHeld(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := 0; i < len(log); i++ {
		if err := s.foldFact(t.Context(), b, log[i]); err != nil {
			t.Fatal(err)
		}
		last := i == len(log)-1
		switch {
		case b.empty(): // refilled the window
		case b.full() || s.held != nil || last || rapid.IntRange(0, 3).Draw(t, "flush") == 0:
			flush()
			if last && !b.empty() {
				c.commit(t, b)
			}
		case rapid.IntRange(0, 9).Draw(t, "killed") == 0:
			// The next session folds again what was not committed. Before that it
			// reads what its window needs.
			if table := rapid.SampledFrom([]string{"", RollupHours, RollupDeployments, RollupOccurrences}).Draw(t, "written"); table != "" {
				c.rollUp(t, b, c.changes(t, b), table)
			}
			s, b = c.begin(), newBatch(c.rolled)
			c.spent, _ = openSpending(c.cp.Budget.Spent)
			i = int(max(c.cp.WindowFrom, 1)) - 2
		}
	}
}

// TestBudgetIsIndependentOfBatches: for any way to cut a log into batches, and any
// interruptions, the records, their overflow, their contexts, their hours, their
// deployments and their occurrences with their numbers are those of the model.
func TestBudgetIsIndependentOfBatches(t *testing.T) {
	maxOverflowClasses = 2
	t.Cleanup(func() { maxOverflowClasses = 100 })
	t.Cleanup(SetDeploymentLimits(2, 3))
	rapid.Check(t, func(t *rapid.T) {
		log := drawLedger(t)
		want := newLedgerModel()
		for _, f := range log {
			want.fact(t, f)
		}
		got := &tables{spent: spending{}, records: map[recordKey]errata.Record{}, payloads: map[errata.Position]string{}, hours: map[hourKey]uint64{}, deployed: DeploymentRows{}, occurred: OccurrenceRows{}}
		got.fold(t, log)
		if diff := cmp.Diff(want.records, got.records, recordOptions, cmp.AllowUnexported(recordKey{})); diff != "" {
			t.Fatalf("records (-model +fold):\n%s", diff)
		}
		if diff := cmp.Diff(want.payloads, got.payloads); diff != "" {
			t.Fatalf("payloads (-model +fold):\n%s", diff)
		}
		if !maps.Equal(want.hours, got.hours) {
			t.Fatalf("hours: model %v, fold %v", want.hours, got.hours)
		}
		if diff := cmp.Diff(want.deployed, got.deployed); diff != "" {
			t.Fatalf("deployments (-model +fold):\n%s", diff)
		}
		if diff := cmp.Diff(want.occurred, got.occurred); diff != "" {
			t.Fatalf("occurrences (-model +fold):\n%s", diff)
		}
	})
}
