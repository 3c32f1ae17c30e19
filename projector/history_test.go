package projector_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/signature"
)

var (
	historySeed  = flag.Uint64("history.seed", 0, "seed of the random histories, 0 for a new one")
	historySteps = flag.Int("history.steps", 130, "steps of a random history")
)

// history is a random life of a ledger beside a model of it in plain Go.
type history struct {
	*ledger
	random *rand.Rand
	now    time.Time
	off    bool
	budget modelBudget
	sent   []errata.Event // to be sent again

	seen     map[errata.EventID]bool
	records  map[string]errata.Record
	payload  map[string]string
	hours    map[string]uint64 // "signature book id hour level"
	rows     projector.DeploymentRows
	occurred projector.OccurrenceRows
	answers  map[uint64]errata.Changed
}

func newHistory(t *testing.T, l *ledger) *history {
	seed := *historySeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("run again with -history.seed=%d", seed)
	return &history{
		ledger: l, random: rand.New(rand.NewPCG(seed, 1)),
		now:  time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC),
		seen: map[errata.EventID]bool{}, records: map[string]errata.Record{}, payload: map[string]string{},
		budget: modelBudget{records: map[uint64]int{}, classes: map[uint64]int{}},
		hours:  map[string]uint64{}, rows: projector.DeploymentRows{}, occurred: projector.OccurrenceRows{}, answers: map[uint64]errata.Changed{},
	}
}

func (h *history) signature(n int) errata.Signature {
	return signature.Sign(signature.Identity{Project: projectOf(n), Template: fmt.Sprint("problem ", n)})
}

const problems = 14

// events appends a block of events, some of which were sent before, at times behind a tick.
func (h *history) events() {
	if h.random.IntN(10) == 0 {
		h.tick()
	}
	events := make([]errata.Event, 1+h.random.IntN(6))
	for i := range events {
		if len(h.sent) > 0 && h.random.IntN(4) == 0 {
			events[i] = h.sent[h.random.IntN(len(h.sent))]
			continue
		}
		id := fmt.Sprint("event ", len(h.sent))
		at := h.now.Add(-time.Duration(h.random.IntN(40*24*60)) * time.Minute)
		n := h.random.IntN(problems)
		events[i] = errata.Event{
			ID: errata.NewEventID(1, id), Project: projectOf(n), Book: errata.Books[h.random.IntN(2)], Signature: h.signature(n),
			Level: errata.Level(1 + h.random.IntN(7)), Time: at, Received: h.now, File: "a.go", Line: uint32(len(h.sent)),
			Message: fmt.Sprint("problem ", n), Class: "E" + id, URI: "/" + id, Method: "GET", UserID: int64(n), Payload: []byte(`{"id":"` + id + `"}`),
			Environment: []string{"", "prod", "qa", "dev", "local"}[h.random.IntN(5)], Release: []string{"", "1.0", "1.1", "1.2", "1.3", "2.0"}[h.random.IntN(6)],
			IP: h.someAddress(), Trail: h.trail(), Mute: h.random.IntN(5) == 0, Noise: h.random.IntN(5) == 0,
		}
		h.mention(&events[i])
		h.sent = append(h.sent, events[i])
	}
	data, err := eventlog.EncodeBlock(events)
	if err != nil {
		h.t.Fatal(err)
	}
	seq := h.publish("ev.0", data)
	for i, e := range events {
		h.count(e, errata.PositionOf(seq, i))
	}
}

// mention puts persons into some events: into the context, which may name another
// user than the event, and into the texts.
func (h *history) mention(e *errata.Event) {
	switch h.random.IntN(4) {
	case 0:
		e.Payload = fmt.Appendf(nil, `{"user":%q}`, h.someUser())
	case 1:
		e.Message += " of [" + h.someAddress().String() + "]"
	case 2:
		e.URI += "?from=" + h.someAddress().String() + "&then"
		e.Payload = fmt.Appendf(nil, `{"tags":{"peer":%q}}`, h.someAddress())
	}
}

func (h *history) someUser() string { return []string{"3", "u-77", "5"}[h.random.IntN(3)] }

// someAddress is one of three, two of which begin alike.
func (h *history) someAddress() netip.Addr {
	return netip.MustParseAddr([]string{"10.0.0.1", "10.0.0.11", "2001:db8::7"}[h.random.IntN(3)])
}

// publish puts a fact on the log, so that its position is known before it is
// folded.
func (h *history) publish(subject string, data []byte) uint64 {
	h.t.Helper()
	ack, err := h.JetStream.Publish(h.t.Context(), h.log.Prefix+subject, data)
	if err != nil {
		h.t.Fatal(err)
	}
	return ack.Sequence
}

func modelKey(book errata.Book, s errata.Signature) string { return book.String() + " " + s.String() }

func (h *history) count(e errata.Event, at errata.Position) {
	if h.seen[e.ID] {
		return
	}
	h.seen[e.ID] = true
	if h.off {
		return
	}
	key := modelKey(e.Book, e.Signature)
	r, ok := h.records[key]
	if !ok && h.overBudget(e.Project) {
		key, r, ok = h.overflow(&e)
	}
	if !ok {
		r = errata.Record{
			Book: e.Book, Signature: e.Signature, ID: at, FirstSeen: e.Time, LastSeen: e.Time, Level: e.Level, File: e.File, Line: e.Line,
			Message: e.Message, Class: e.Class, URI: e.URI, Method: e.Method, UserID: e.UserID, IP: e.IP, Status: errata.StatusOpen, Project: e.Project,
		}
		if r.Noise = e.Noise; e.Mute {
			r.Status = errata.StatusMuted
		}
		h.payload[key] = string(e.Payload)
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
	projector.ModelDeploy(&r, h.rows, e)
	projector.ModelOccur(r, h.occurred, e, at)
	h.records[key] = r
	h.hours[fmt.Sprintf("%s %d %d %s", key, r.ID, e.Time.Unix()/3600, e.Level)]++
}

// command puts a command on the log without waiting for its answer, and returns its
// position.
func (h *history) command(name string, body any, effect func(r errata.Record, at errata.Position) (errata.Record, bool, bool)) errata.Position {
	data, err := json.Marshal(body)
	if err != nil {
		h.t.Fatal(err)
	}
	seq := h.publish("cmd."+name, data)
	var changed errata.Changed
	for key, r := range h.records {
		now, meant, keep := effect(r, errata.PositionOf(seq, 0))
		if !meant {
			continue
		}
		changed.Add(r.Book, 1)
		if h.records[key] = now; !keep {
			delete(h.records, key)
			delete(h.payload, key)
		}
	}
	h.answers[seq] = changed
	return errata.PositionOf(seq, 0)
}

func (h *history) someSignatures() (texts []string) {
	for range 1 + h.random.IntN(3) {
		texts = append(texts, h.signature(h.random.IntN(problems+1)).String())
	}
	if h.random.IntN(4) == 0 {
		texts = append(texts, h.someOverflow().String())
	}
	return texts
}

func (h *history) delete() {
	texts := h.someSignatures()
	name, within := h.within(eventlog.CommandDelete, eventlog.CommandDeleteIn)
	h.command(name, eventlog.Signatures{Signatures: texts, Within: within}, func(r errata.Record, _ errata.Position) (errata.Record, bool, bool) {
		return r, slices.Contains(texts, r.Signature.String()) && means(within, r), false
	})
}

func (h *history) move() {
	texts, status := h.someSignatures(), errata.Statuses[h.random.IntN(3)]
	name, within := h.within(eventlog.CommandStatus, eventlog.CommandStatusIn)
	h.command(name, eventlog.StatusMove{Signatures: texts, Status: status, Within: within}, func(r errata.Record, at errata.Position) (errata.Record, bool, bool) {
		meant := slices.Contains(texts, r.Signature.String()) && means(within, r)
		if meant {
			r.Status, r.Regressed, r.Version = status, false, at
		}
		return r, meant, true
	})
}

// erase removes the data of a user or an address from the records.
func (h *history) erase() {
	var body eventlog.Erase
	var user, address string
	if h.random.IntN(2) == 0 {
		user = h.someUser()
		body.Users = []string{user}
	} else {
		address = h.someAddress().String()
		body.Addresses = []string{address}
	}
	at := h.command(eventlog.CommandErase, body, func(r errata.Record, at errata.Position) (errata.Record, bool, bool) {
		key := modelKey(r.Book, r.Signature)
		payload := h.payload[key]
		theirs := user != "" && (fmt.Sprint(r.UserID) == user || payload == `{"user":"`+user+`"}`) || r.IP.String() == address
		mentions := address != "" && (strings.Contains(r.Message, "["+address+"]") || strings.Contains(r.URI, "="+address+"&") || strings.Contains(payload, `"`+address+`"`))
		if theirs {
			r.UserID, r.IP = 0, netip.IPv6Unspecified()
		}
		if !theirs && !mentions {
			return r, false, true
		}
		if address != "" {
			r.Message = strings.ReplaceAll(r.Message, "["+address+"]", "[[erased]]")
			r.URI = strings.ReplaceAll(r.URI, "="+address+"&", "=[erased]&")
		}
		r.Version = at
		h.payload[key] = ""
		return r, true, true
	})
	projector.ModelErase(h.occurred, h.live(), user, address, at)
}

func (h *history) toggle() {
	h.off = !h.off
	h.publish("set.logging", fmt.Appendf(nil, `{"v":1,"before":{},"after":{"error_log":%t}}`, !h.off))
}

// state is everything that the projection holds.
type state struct {
	Records  map[string]errata.Record
	Payload  map[string]string
	Hours    map[string]uint64
	Rows     projector.DeploymentRows
	Occurred projector.OccurrenceRows
}

func (h *history) model() state {
	hours, deployed := map[string]uint64{}, projector.DeploymentRows{}
	for _, r := range h.records {
		maps.Copy(deployed, h.rows.Of(r))
		prefix := fmt.Sprintf("%s %d ", modelKey(r.Book, r.Signature), r.ID)
		for key, n := range h.hours {
			if len(key) > len(prefix) && key[:len(prefix)] == prefix {
				hours[key] = n
			}
		}
	}
	return state{h.records, h.payload, hours, deployed, h.live()}
}

var stateOptions = cmp.Options{cmpopts.EquateComparable(netip.Addr{}), cmpopts.EquateEmpty()}

// check compares the projection with the model.
func (h *history) check(database string) {
	h.t.Helper()
	if diff := cmp.Diff(h.model(), h.read(database), stateOptions); diff != "" {
		h.t.Fatalf("projection %s (-model +projection):\n%s", database, diff)
	}
	h.checkTotals()
}

// totals are what the model adds up to.
func (h *history) totals() projector.Totals {
	t := projector.Totals{Known: true}
	for _, r := range h.records {
		part := &t.System
		if r.Book == errata.BookDatabase {
			part = &t.Database
		}
		part.Records++
		part.Count += r.Count
	}
	return t
}

// checkTotals compares the totals of the checkpoint, and those counted in the
// tables in both ways, with the model.
func (h *history) checkTotals() {
	h.t.Helper()
	for _, primary := range []bool{false, true} {
		cp, have, err := projector.NewStore(h.ClickHouse, 0).Count(h.t.Context(), projector.CountOptions{Primary: primary})
		if err != nil {
			h.t.Fatal(err)
		}
		if want := h.totals(); cp.Totals != want || have != want {
			h.t.Fatalf("totals (primary %t): the checkpoint says %+v, the table %+v, the model %+v", primary, cp.Totals, have, want)
		}
	}
}

// TestAnyHistory: for any order of new and repeated events, commands and settings,
// with stops of the projector and kills of ClickHouse, the records, contexts, hours,
// deployments, occurrences and answers are those of the model. They are also after a rebuild
// from the log, and what is gone leaves the disk.
func TestAnyHistory(t *testing.T) {
	smallPieces(t)
	l := newLedger(t)
	h := newHistory(t, l)
	h.otherSizes()
	p, stop := l.start()
	stopRival := func() {} // of a second projector on the same shard
	for range *historySteps {
		switch n := h.random.IntN(100); {
		case n < 60:
			h.events()
		case n < 68:
			h.delete()
		case n < 78:
			h.move()
		case n < 82:
			h.cleanup()
		case n < 84:
			h.erase()
		case n < 87:
			h.matching()
		case n < 89:
			h.toggle()
		case n < 90:
			h.limit()
		case n < 93:
			stop()
			p, stop = l.start()
		case n < 94 && l.Embedded():
			l.KillClickHouse()
			l.barrier() // it answers again
		case n < 96:
			stopRival()
			_, stopRival = l.start()
		case n < 97:
			stopRival()
		case n < 98:
			h.tidy()
		default:
			l.barrier()
			h.check(l.Database)
		}
	}
	l.barrier()
	h.check(l.Database)
	h.checkAnswers(p.Store())
	stop()
	stopRival()
	h.checkGone(p.Store())
	comparison, err := projector.Rebuild(context.WithoutCancel(t.Context()), p, l.rebuild())
	if err != nil {
		t.Fatal(err)
	}
	if !comparison.Equal() || comparison.Live.Records != uint64(len(h.records)) {
		t.Errorf("rebuilt: %+v", comparison)
	}
	h.check(l.Database)
}
