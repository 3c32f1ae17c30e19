package audit_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/audit"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// patience is far above what an entry takes; it says "never".
const patience = 30 * time.Second

// fatal is the part of a test that the ledger needs; rapid's tests have it too.
type fatal interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// ledger is a log, a bucket of keys and a trail of their own on a real server.
type ledger struct {
	t       fatal
	ctx     context.Context
	log     eventlog.Log
	cfg     audit.Config
	keys    *access.Store
	trail   *audit.Trail
	stops   []func() // of auditors
	cleanup []func()
	copies  int // streams made by copyTrail
}

// newLedger makes one in a namespace of its own. close takes it away.
func newLedger(t fatal, env *testenv.Broker) *ledger {
	t.Helper()
	var unique [6]byte
	_, _ = rand.Read(unique[:])
	namespace := "a" + hex.EncodeToString(unique[:])
	l := &ledger{t: t, ctx: context.Background(), log: eventlog.Log{
		NATS: env.NATS, JetStream: env.JetStream,
		Stream: migrations.StreamName(namespace), Prefix: migrations.SubjectPrefix(namespace),
	}}
	l.must(migrations.Log(l.ctx, env.JetStream, migrations.LogConfig{Namespace: namespace, MaxBytes: 4 << 20}))
	l.cleanup = append(l.cleanup, func() {
		for _, name := range migrations.Stores(namespace) {
			l.must(env.JetStream.DeleteStream(l.ctx, name))
		}
	})
	l.cfg = audit.Config{
		Log: l.log, KeysBucket: migrations.KeysBucket(namespace), Stream: migrations.AuditStream(namespace),
		Answers: instantAnswers{},
	}
	bucket, err := env.JetStream.KeyValue(l.ctx, l.cfg.KeysBucket)
	l.must(err)
	l.keys, err = access.Open(l.ctx, access.Config{Bucket: bucket})
	l.must(err)
	l.cleanup = append(l.cleanup, l.keys.Close)
	l.trail = audit.NewTrail(l.cfg)
	return l
}

// openLedger is newLedger for a whole test.
func openLedger(t *testing.T) *ledger {
	t.Helper()
	l := newLedger(t, testenv.NewBroker(t))
	t.Cleanup(l.close)
	return l
}

func (l *ledger) stopAuditors() {
	for _, stop := range l.stops {
		stop()
	}
	l.stops = nil
}

func (l *ledger) close() {
	l.stopAuditors()
	for _, do := range slices.Backward(l.cleanup) {
		do()
	}
	l.cleanup = nil
}

func (l *ledger) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatalf("%v", err)
	}
}

// instantAnswers are the answers of a projection that is never behind.
type instantAnswers struct{}

func (instantAnswers) Answer(_ context.Context, sequence uint64) (eventlog.Answer, uint64, error) {
	return eventlog.Answer(fmt.Sprintf(`{"of":%d}`, sequence)), sequence, nil
}

// start runs an auditor until stop is called.
func (l *ledger) start() (a *audit.Auditor, stop func()) {
	l.t.Helper()
	a, err := audit.New(l.cfg)
	l.must(err)
	a.Start()
	stop = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := a.Stop(ctx); err != nil {
			l.t.Errorf("%v", err)
		}
	})
	l.stops = append(l.stops, stop)
	return a, stop
}

// catchUp waits until everything has its entry.
func (l *ledger) catchUp(a *audit.Auditor) {
	l.t.Helper()
	late := time.Now().Add(patience)
	for {
		err := a.CaughtUp(l.ctx)
		if err == nil {
			return
		}
		if time.Now().After(late) {
			l.t.Fatalf("%v", err)
		}
	}
}

var ada = errata.Actor{
	KeyID: "000000000007", KeyName: "ada", IP: "192.0.2.1", Route: "POST /x", Scope: "X/Y", RequestID: "r1",
}

// fact appends a command or setting in the name of ada, as Commander does.
func (l *ledger) fact(subject string, body any) uint64 {
	l.t.Helper()
	return l.factBy(ada, subject, body)
}

func (l *ledger) factBy(by errata.Actor, subject string, body any) uint64 {
	l.t.Helper()
	data, err := json.Marshal(body)
	l.must(err)
	header, err := json.Marshal(by)
	l.must(err)
	ack, err := l.log.JetStream.PublishMsg(l.ctx, &nats.Msg{
		Subject: l.log.Prefix + subject, Data: data, Header: nats.Header{"Errata-By": {string(header)}},
	})
	l.must(err)
	return ack.Sequence
}

// createKey and revokeKey change keys in the name of ada.
func (l *ledger) createKey(name string) access.Key {
	l.t.Helper()
	key, _, err := l.keys.Create(errata.WithActor(l.ctx, ada), access.NewKey{Name: name, Kind: access.KindOps, NeverExpires: true})
	l.must(err)
	return key
}

func (l *ledger) revokeKey(id string) {
	l.t.Helper()
	l.must(l.keys.Revoke(errata.WithActor(l.ctx, ada), id))
}

// entries are all entries, oldest first.
func (l *ledger) entries() []audit.Entry {
	l.t.Helper()
	var all []audit.Entry
	for q := (audit.Query{Limit: audit.MaxLimit}); ; {
		page, err := l.trail.List(l.ctx, q)
		l.must(err)
		all = append(all, page.Entries...)
		if q.Before = page.Next; q.Before == 0 {
			slices.Reverse(all)
			return all
		}
	}
}

// sources are the facts of the sources that must have an entry, in order for
// each stream.
func (l *ledger) sources() map[string][]uint64 {
	l.t.Helper()
	found := map[string][]uint64{}
	add := func(stream string, subjects ...string) {
		s, err := l.log.JetStream.Stream(l.ctx, stream)
		l.must(err)
		for _, subject := range subjects {
			for next := uint64(1); ; {
				msg, err := s.GetMsg(l.ctx, next, jetstream.WithGetMsgSubject(subject))
				if err != nil {
					break
				}
				found[stream] = append(found[stream], msg.Sequence)
				next = msg.Sequence + 1
			}
		}
		slices.Sort(found[stream])
	}
	add(l.log.Stream, l.log.Prefix+"cmd.greet", l.log.Prefix+"cmd.delete", l.log.Prefix+"cmd.snapshot", l.log.Prefix+"set.>")
	add("KV_"+l.cfg.KeysBucket, "$KV."+l.cfg.KeysBucket+".key.*")
	return found
}

// checkComplete checks that each fact has exactly one entry, in order for each
// source, and that the chain is good.
func (l *ledger) checkComplete() {
	l.t.Helper()
	entries := l.entries()
	got := map[string][]uint64{}
	for i, e := range entries {
		if e.N != uint64(i+1) {
			l.t.Fatalf("entry %d has number %d", i+1, e.N)
		}
		got[e.Source.Stream] = append(got[e.Source.Stream], e.Source.Sequence)
	}
	for stream, want := range l.sources() {
		if slices.Compare(got[stream], want) != 0 {
			l.t.Errorf("%s: entries of %v, want of %v", stream, got[stream], want)
		}
		delete(got, stream)
	}
	if len(got) > 0 {
		l.t.Errorf("entries of nothing: %v", got)
	}
	r, err := l.trail.Verify(l.ctx)
	l.must(err)
	if r.Problem != nil || r.Entries != uint64(len(entries)) {
		l.t.Errorf("verify: %d of %d entries good, %+v", r.Entries, len(entries), r.Problem)
	}
	if n := len(entries); n > 0 && r.Head != entries[n-1].Hash {
		l.t.Errorf("head %s, want %s", r.Head, entries[n-1].Hash)
	}
}
