package natsin

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/quota"
	"github.com/errata-log/errata/internal/made"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// patience is much longer than a message takes to get onto the log.
const patience = 20 * time.Second

// bench is a real queue and a real log.
type bench struct {
	*testenv.Broker
	t      *testing.T
	queues Queues
	log    eventlog.Log
	off    bool // the error log is switched off
	quotas *quota.Quotas
	// archived is what the receiver is told of its project.
	archived atomic.Bool
}

func newBench(t *testing.T) *bench {
	t.Helper()
	env := testenv.NewBroker(t)
	prefix := migrations.SubjectPrefix(env.Namespace)
	return &bench{
		Broker: env, t: t,
		queues: Queues{
			JetStream: env.JetStream, Prefix: prefix,
			Intake: migrations.IntakeStream(env.Namespace), Dead: migrations.DeadStream(env.Namespace),
		},
		log: eventlog.Log{NATS: env.NATS, JetStream: env.JetStream, Stream: migrations.StreamName(env.Namespace), Prefix: prefix},
	}
}

// receiver is one that is not started. Stop may be called again.
func (b *bench) receiver() *Receiver {
	b.t.Helper()
	appender, err := eventlog.NewAppender(eventlog.AppenderConfig{Log: b.log})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = appender.Close(context.WithoutCancel(b.t.Context())) })
	pipeline, err := ingest.New(ingest.Config{
		Log: appender, Random: rand.Reader, Switches: func() errata.Logging { return errata.Logging{ErrorLog: !b.off} },
	})
	if err != nil {
		b.t.Fatal(err)
	}
	r, err := New(Config{Queues: b.queues, Log: b.log, Accepter: pipeline, Project: 7, Quotas: b.quotas,
		Archived: func(project uint64) bool { return project == 7 && b.archived.Load() }})
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// start runs a receiver until the test ends.
func (b *bench) start() *Receiver {
	b.t.Helper()
	r := b.receiver()
	r.Start()
	b.t.Cleanup(func() { b.stop(r) })
	return r
}

func (b *bench) stop(r *Receiver) {
	b.t.Helper()
	if err := r.Stop(context.WithoutCancel(b.t.Context())); err != nil {
		b.t.Error(err)
	}
}

func (b *bench) publish(book, body string, headers ...string) {
	b.t.Helper()
	msg := &nats.Msg{Subject: b.queues.Prefix + subjectEvents + book, Data: []byte(body), Header: nats.Header{}}
	for i := 0; i < len(headers); i += 2 {
		msg.Header.Set(headers[i], headers[i+1])
	}
	if _, err := b.JetStream.PublishMsg(b.t.Context(), msg); err != nil {
		b.t.Fatal(err)
	}
}

// publishMany publishes events with the ids from and up to to.
func (b *bench) publishMany(from, to int) {
	b.t.Helper()
	for i := from; i < to; i++ {
		b.publish("system", fmt.Sprintf(`{"id":"e%d","message":"number %d"}`, i, i))
	}
}

func (b *bench) state(stream string) jetstream.StreamState {
	b.t.Helper()
	s, err := b.JetStream.Stream(b.t.Context(), stream)
	if err != nil {
		b.t.Fatal(err)
	}
	return s.CachedInfo().State
}

// emptyQueue puts an empty queue, whose numbers begin at 1 again, in the place of the queue:
// the same one, as after a restore, or a new one.
func (b *bench) emptyQueue(same bool) {
	b.t.Helper()
	stream, err := b.JetStream.Stream(b.t.Context(), b.queues.Intake)
	if err != nil {
		b.t.Fatal(err)
	}
	info := stream.CachedInfo()
	if same {
		info.Config.Metadata = made.Keep(info.Created, info.Config.Metadata)
	}
	if err := b.JetStream.DeleteStream(b.t.Context(), b.queues.Intake); err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.JetStream.CreateStream(b.t.Context(), info.Config); err != nil {
		b.t.Fatal(err)
	}
}

// awaitEmpty waits until the queue has nothing left.
func (b *bench) awaitEmpty() {
	b.t.Helper()
	b.await("the queue is empty", func() bool { return b.state(b.queues.Intake).Msgs == 0 })
}

func (b *bench) await(what string, done func() bool) {
	b.t.Helper()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for late := time.After(patience); !done(); {
		select {
		case <-poll.C:
		case <-late:
			b.t.Fatalf("after %v it is not so that %s", patience, what)
		}
	}
}

// logged is every event on the log, in order, repeats among them.
func (b *bench) logged() (entries []eventlog.Entry) {
	b.t.Helper()
	last := b.state(b.log.Stream).LastSeq
	r, err := eventlog.NewReader(b.t.Context(), b.log, 1)
	if err != nil {
		b.t.Fatal(err)
	}
	defer r.Close()
	for range last {
		fact, err := r.Next(b.t.Context())
		if err != nil {
			b.t.Fatal(err)
		}
		if fact.Kind != eventlog.FactEvents || string(fact.Data) == acknowledgement {
			continue
		}
		block, err := eventlog.DecodeBlock(fact.Data, nil)
		if err != nil {
			b.t.Fatal(err)
		}
		block.Entries(func(_ int, e eventlog.Entry) { entries = append(entries, e) })
	}
	return entries
}

// acknowledgement is JetStream's answer to a publisher. As a message on the log it
// stands for one of another program.
const acknowledgement = `{"stream":"ERRORS","seq":1}`

// wantOnce fails unless the log has the events with the ids up to n, each once, in
// the order in which they were published.
func (b *bench) wantOnce(n int) {
	b.t.Helper()
	entries := b.logged()
	if len(entries) != n {
		b.t.Errorf("%d events are on the log, want %d", len(entries), n)
	}
	for i, e := range entries {
		if want := ingest.EventID(7, fmt.Sprintf("e%d", i)); e.ID != want {
			b.t.Fatalf("event %d on the log is another one than was published as number %[1]d", i)
		}
	}
}
