package audit_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"
	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/audit"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/test/testenv"
)

// short is what a test compares of an entry.
type short struct{ Action, Before, After, Request, Result string }

func shortOf(e audit.Entry) short {
	return short{e.Action, string(e.Before), string(e.After), string(e.Request), string(e.Result)}
}

// TestProjectsInTheTrail: the first fact of a project makes it, the others change it.
func TestProjectsInTheTrail(t *testing.T) {
	l := openLedger(t)
	a, _ := l.start()
	l.fact("set.project.7", json.RawMessage(`{"v":1,"before":null,"after":{"id":7}}`))
	l.fact("set.project.7", json.RawMessage(`{"v":1,"before":{"id":7},"after":{"id":7,"archived":true}}`))
	l.catchUp(a)
	var got []string
	for _, e := range l.entries() {
		got = append(got, fmt.Sprintf("%s %s %s %s", e.Action, e.Before, e.After, e.Result))
	}
	want := []string{`project.create null {"id":7} {"stored":true}`, `project.update {"id":7} {"archived":true,"id":7} {"stored":true}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestEachKindOfWrite: one entry each, with who, what, before, after, result.
func TestEachKindOfWrite(t *testing.T) {
	l := openLedger(t)
	a, stop := l.start()
	many := make([]int, 60)
	want := []short{}
	expect := func(s short) {
		l.catchUp(a)
		want = append(want, s)
	}
	service := errata.Actor{KeyID: errata.ActorService}
	for _, silent := range []string{"cmd." + eventlog.CommandBarrier, "cmd." + eventlog.CommandPad, "ev.0"} {
		l.factBy(service, silent, nil)
	}
	seq := l.fact("cmd.delete", map[string]any{"signatures": many})
	expect(short{"errors.delete", "null", "null",
		`{"signatures":{"count":60,"first":[` + strings.TrimSuffix(strings.Repeat("0,", 50), ",") + `]}}`, fmt.Sprintf(`{"of":%d}`, seq)})
	seq = l.fact("cmd.greet", map[string]string{"name": "Ada"})
	expect(short{"greet", "null", "null", `{"name":"Ada"}`, fmt.Sprintf(`{"of":%d}`, seq)})
	l.fact("set.logging", json.RawMessage(`{"v":1,"before":{"level":"error"},"after":{"level":"debug"}}`))
	expect(short{"settings.logging", `{"level":"error"}`, `{"level":"debug"}`, "null", `{"stored":true}`})
	l.fact("set.other", json.RawMessage(`{"v":2,"x":1}`))
	expect(short{"settings.other", "null", "null", `{"v":2,"x":1}`, `{"stored":true}`})
	key := l.createKey("grafana")
	trace := fmt.Sprintf(`{"id":%q,"kind":"ops","name":"grafana","project":0,"scopes":["Ops/Read"]`, key.ID)
	expect(short{"key.create", "null", trace + "}", "null", `{"stored":true}`})
	l.revokeKey(key.ID)
	l.revokeKey(key.ID) // changes nothing
	for _, k := range l.keys.List() {
		if k.ID == key.ID {
			key = k
		}
	}
	revoked := strings.Replace(trace, `"scopes"`, fmt.Sprintf(`"revoked":%q,"scopes"`, key.RevokedAt.Format(time.RFC3339Nano)), 1)
	expect(short{"key.revoke", trace + "}", revoked + "}", "null", `{"stored":true}`})

	var got []short
	for _, e := range l.entries() {
		got = append(got, shortOf(e))
		by := errata.Actor{KeyID: e.Actor.KeyID, KeyName: e.Actor.KeyName, IP: e.Actor.IP, Route: e.Route, Scope: e.Scope, RequestID: e.RequestID}
		if by != ada || time.Since(e.Time).Abs() > time.Hour {
			t.Errorf("entry %d by %+v at %v", e.N, by, e.Time)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	stop()
	l.factBy(service, "cmd.snapshot", nil)
	l.fact("cmd.greet", nil)
	last, _ := l.start()
	l.catchUp(last)
	l.checkComplete()
	targets, err := last.Targets(t.Context())
	if err != nil || last.Cursor() != targets || last.Err() != nil {
		t.Errorf("the cursor is %+v, want %+v (%v, %v)", last.Cursor(), targets, err, last.Err())
	}
}

// TestNoSecretsInTheTrail: of a key's record neither hash nor public key get
// into an entry, even of a record that cannot be read.
func TestNoSecretsInTheTrail(t *testing.T) {
	l := openLedger(t)
	key := l.createKey("x")
	bucket, err := l.log.JetStream.KeyValue(t.Context(), l.cfg.KeysBucket)
	l.must(err)
	entry, err := bucket.Get(t.Context(), "key."+key.ID)
	l.must(err)
	var record struct {
		Hash string `json:"sha256"`
	}
	l.must(json.Unmarshal(entry.Value(), &record))
	_, err = bucket.Put(t.Context(), "key."+key.ID, []byte(strings.Replace(string(entry.Value()), `"v":1`, `"v":9`, 1)))
	l.must(err)
	l.must(bucket.Delete(t.Context(), "key."+key.ID))
	a, _ := l.start()
	l.catchUp(a)
	var actions []string
	for _, e := range l.entries() {
		actions = append(actions, e.Action)
		if text := fmt.Sprintf("%s%s%s", e.Before, e.After, e.Request); strings.Contains(text, record.Hash) || record.Hash == "" {
			t.Errorf("entry %d shows the hash: %s", e.N, text)
		}
	}
	if diff := cmp.Diff([]string{audit.ActionKeyCreate, audit.ActionKeyChange, audit.ActionKeyRemove}, actions); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
	l.checkComplete()
}

// TestManyAuditors: several auditors write the same trail while several nodes
// send commands and change keys.
func TestManyAuditors(t *testing.T) {
	l := openLedger(t)
	first, _ := l.start()
	for range 2 {
		l.start()
	}
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for range 10 {
				l.fact("cmd.greet", nil)
			}
		})
		writers.Go(func() {
			for range 5 {
				l.revokeKey(l.createKey("many").ID)
			}
		})
	}
	writers.Wait()
	l.catchUp(first)
	if got := len(l.entries()); got != 80 {
		t.Errorf("%d entries, want 80", got)
	}
	l.checkComplete()
}

// TestAuditorsThatDie: changes come while no auditor runs or while one is
// stopped at any moment of its work.
func TestAuditorsThatDie(t *testing.T) {
	l := openLedger(t)
	for range 40 {
		l.fact("cmd.greet", nil)
	}
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := range 30 {
			l.fact("set.logging", map[string]int{"v": 1, "after": i})
			l.createKey("x")
		}
	})
	for range 25 {
		_, stop := l.start()
		late := time.NewTimer(rand.N(20 * time.Millisecond)) // any moment of its work
		<-late.C
		stop()
	}
	writer.Wait()
	a, _ := l.start()
	l.catchUp(a)
	if got := len(l.entries()); got != 100 {
		t.Errorf("%d entries, want 100", got)
	}
	l.checkComplete()
}

// roundsPerLedger keeps the trail short that each round reads.
const roundsPerLedger = 10

// TestAnyInterleaving: writes of all kinds, starts and stops in any order.
func TestAnyInterleaving(t *testing.T) {
	env := testenv.NewBroker(t)
	var l *ledger
	round := 0
	t.Cleanup(func() {
		l.t = t
		l.close()
	})
	rapid.Check(t, func(t *rapid.T) {
		// Making the streams takes longer than a round, so that several rounds
		// follow each other on one ledger; the trail must stay good over them.
		if round++; l == nil || round%roundsPerLedger == 0 {
			if l != nil {
				l.close()
			}
			l = newLedger(t, env)
		}
		l.t = t
		defer l.stopAuditors()
		var stops []func()
		var keys []string
		for range rapid.IntRange(0, 25).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"start", "stop", "greet", "pad", "event", "setting", "create", "revoke", "wait"}).Draw(t, "step") {
			case "start":
				_, stop := l.start()
				stops = append(stops, stop)
			case "stop":
				if len(stops) > 0 {
					stops[0]()
					stops = stops[1:]
				}
			case "greet":
				l.fact("cmd.greet", nil)
			case "pad":
				l.fact("cmd.pad", nil)
			case "event":
				l.fact("ev.0", nil)
			case "setting":
				l.fact("set.logging", nil)
			case "create":
				keys = append(keys, l.createKey("x").ID)
			case "revoke":
				if len(keys) > 0 {
					l.revokeKey(keys[0])
					keys = keys[1:]
				}
			case "wait":
				a, stop := l.start()
				l.catchUp(a)
				stop()
			}
		}
		a, _ := l.start()
		l.catchUp(a)
		l.checkComplete()
	})
}

// TestGaps: changes that were lost before they had an entry get one entry of
// their own.
func TestGaps(t *testing.T) {
	l := openLedger(t)
	l.fact("cmd.greet", 1)
	a, stop := l.start()
	l.catchUp(a)
	stop()
	for i := range 4 {
		l.fact("cmd.greet", i)
	}
	s, err := l.log.JetStream.Stream(t.Context(), l.log.Stream)
	l.must(err)
	l.must(s.Purge(t.Context(), jetstream.WithPurgeSequence(4)))
	for range 2 {
		a, stop = l.start()
		l.catchUp(a)
		stop()
	}
	entries := l.entries()
	if len(entries) != 4 || shortOf(entries[1]) != (short{audit.ActionGap, "null", "null",
		fmt.Sprintf(`{"first":2,"last":3,"reason":"purged","stream":%q}`, l.log.Stream), "null"}) || entries[1].Cursors.Log != 3 {
		t.Errorf("entries %+v", entries)
	}
	// The log comes back shorter than it was.
	config := s.CachedInfo().Config
	l.must(l.log.JetStream.DeleteStream(t.Context(), l.log.Stream))
	_, err = l.log.JetStream.CreateStream(t.Context(), config)
	l.must(err)
	l.fact("cmd.greet", 1)
	for range 2 {
		a, stop = l.start()
		l.catchUp(a)
		stop()
	}
	l.fact("cmd.greet", 2)
	a, _ = l.start()
	l.catchUp(a)
	entries = l.entries()[4:]
	if len(entries) != 2 || string(entries[0].Request) !=
		fmt.Sprintf(`{"first":2,"last":5,"reason":"the source is shorter than it was","stream":%q}`, l.log.Stream) ||
		entries[1].Source.Sequence != 2 {
		t.Errorf("entries %+v", entries)
	}
	if r, err := l.trail.Verify(t.Context()); err != nil || r.Problem != nil {
		t.Errorf("verify: %+v, %v", r, err)
	}
}

// TestWithAProjector takes the answers of a real projector, and the entry is
// there before the list is read.
func TestWithAProjector(t *testing.T) {
	env := testenv.New(t)
	l := newLedger(t, env.Broker)
	t.Cleanup(l.close)
	p, err := projector.New(t.Context(), projector.Config{Log: l.log, ClickHouse: env.ClickHouse})
	l.must(err)
	l.cfg.Answers = p.Store()
	a, _ := l.start()
	seq := l.fact("cmd.greet", nil)
	if err := a.CaughtUp(t.Context()); err == nil || len(l.entries()) != 0 {
		t.Errorf("an entry before the command was answered: %v", err)
	}
	p.Start()
	l.cleanup = append(l.cleanup, func() { l.must(p.Stop(l.ctx)) })
	l.catchUp(a)
	seq2 := l.fact("cmd.greet", nil)
	began := time.Now()
	l.catchUp(a)
	t.Logf("an entry %v after its command", time.Since(began))
	entries := l.entries()
	if len(entries) != 2 || entries[0].Source.Sequence != seq || entries[1].Source.Sequence != seq2 ||
		!strings.Contains(string(entries[1].Result), "does not know the command") {
		t.Errorf("entries %+v", entries)
	}
}

// absentAnswers have passed every command and have no answer.
type absentAnswers struct{}

func (absentAnswers) Answer(context.Context, uint64) (eventlog.Answer, uint64, error) {
	return nil, 1 << 40, fmt.Errorf("read the answer: %w", sql.ErrNoRows)
}

// TestAnswerIsGone: a command whose answer is gone has an entry nevertheless.
func TestAnswerIsGone(t *testing.T) {
	l := openLedger(t)
	l.cfg.Answers = absentAnswers{}
	l.fact("cmd.greet", nil)
	a, _ := l.start()
	l.catchUp(a)
	if entries := l.entries(); len(entries) != 1 || string(entries[0].Result) != "null" {
		t.Errorf("entries %+v", entries)
	}
}
