package natsin

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/ingest/quota"
	"github.com/errata-log/errata/migrations"
)

func TestPublishedEventsGetOntoTheLog(t *testing.T) {
	b := newBench(t)
	b.publish("system", `{"id":"own","message":"password=hunter2 failed","type":"database","level":"critical"}`, jetstream.MsgIDHeader, "not this one")
	b.publish("database", `{"exception_class":"Deadlock"}`, jetstream.MsgIDHeader, "by header")
	b.publish("database", `{"message":"nobody named me"}`)
	b.publish("database", `{"message":"nobody named me"}`)
	b.start()
	b.awaitEmpty()
	entries := b.logged()
	if len(entries) != 4 {
		t.Fatalf("%d events are on the log, want 4", len(entries))
	}
	for i, want := range []errata.EventID{ingest.EventID(7, "own"), ingest.EventID(7, "by header")} {
		if entries[i].ID != want {
			t.Errorf("event %d has another id than its own", i)
		}
	}
	if entries[2].ID == entries[3].ID {
		t.Error("two events without an id have the same one")
	}
	for i, want := range []errata.Book{errata.BookSystem, errata.BookDatabase, errata.BookDatabase, errata.BookDatabase} {
		if entries[i].Book != want {
			t.Errorf("event %d is in book %v, want the subject's, %v", i, entries[i].Book, want)
		}
	}
	event, err := entries[0].Event()
	if err != nil || event.Project != 7 || event.Level != errata.LevelCritical || !strings.Contains(string(event.Payload), `"source":"nats"`) {
		t.Errorf("the event is %+v with %s", event, event.Payload)
	}
	if strings.Contains(fmt.Sprintf("%+v%s", event, event.Payload), "hunter2") {
		t.Errorf("a secret is on the log: %+v", event)
	}
}

// Messages of an archived project are kept as dead letters, and are taken when they are
// sent again after the project has come back.
func TestArchivedProjectsMessagesAreKept(t *testing.T) {
	b := newBench(t)
	b.archived.Store(true)
	b.publishMany(0, 3)
	b.publish("system", "not an event")
	b.start()
	b.awaitEmpty()
	if n, dead := len(b.logged()), b.state(b.queues.Dead).Msgs; n != 0 || dead != 4 {
		t.Fatalf("%d events on the log and %d dead letters, want 0 and 4", n, dead)
	}
	letters, _, err := NewLetters(b.queues, ingest.Rules{}).List(t.Context(), 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range letters {
		if l.Reason != errata.KindProjectArchived || !strings.Contains(l.Why, "archived") {
			t.Errorf("a letter says %q, %q", l.Reason, l.Why)
		}
	}
	b.archived.Store(false)
	b.publishMany(3, 5)
	b.awaitEmpty()
	if n := len(b.logged()); n != 2 {
		t.Errorf("%d events are on the log after the project has come back, want 2", n)
	}
}

// The process ends, or an acknowledgement is lost, between the PubAck of the log and
// the acknowledgement to the queue: the queue delivers the messages again.
func TestRedeliveryCountsOnce(t *testing.T) {
	b := newBench(t)
	const rounds, each = 8, 120
	random := rand.New(rand.NewPCG(1, 2))
	lost := errors.New("killed before the acknowledgement")
	for round := range rounds {
		b.publishMany(round*each, (round+1)*each)
		r := b.receiver()
		// After so many acknowledgements no further one arrives, as after a kill.
		left := random.IntN(each)
		dead := make(chan struct{})
		var died atomic.Bool
		r.drain.AckWith(func(msg jetstream.Msg) error {
			if left--; left >= 0 {
				return msg.Ack()
			}
			if died.CompareAndSwap(false, true) {
				close(dead)
			}
			return lost
		})
		r.Start()
		<-dead
		b.stop(r)
		if round == rounds/2 && b.Embedded() {
			b.RestartNATS()
		}
		if b.state(b.queues.Intake).Msgs == 0 {
			t.Fatal("everything was acknowledged, the test tests nothing")
		}
	}
	b.start()
	b.awaitEmpty()
	b.wantOnce(rounds * each)
}

// One of two nodes reads the queue. When it ends, the other one goes on.
func TestTwoNodes(t *testing.T) {
	b := newBench(t)
	first := b.start()
	b.start()
	b.publishMany(0, 100)
	b.awaitEmpty()
	b.stop(first)
	b.publishMany(100, 200)
	b.awaitEmpty()
	b.wantOnce(200)
}

func TestWaitsWhileTheLogIsFull(t *testing.T) {
	b := newBench(t)
	stream, err := b.JetStream.Stream(t.Context(), b.log.Stream)
	if err != nil {
		t.Fatal(err)
	}
	roomy := stream.CachedInfo().Config
	full := roomy
	full.MaxBytes = 1
	if _, err := b.JetStream.UpdateStream(t.Context(), full); err != nil {
		t.Fatal(err)
	}
	var failed atomic.Int32
	r := b.receiver()
	r.cfg.Accepter = watched{r.cfg.Accepter, &failed}
	r.Start()
	t.Cleanup(func() { b.stop(r) })
	b.publishMany(0, 10)
	b.await("the log refused twice", func() bool { return failed.Load() >= 2 })
	if left := b.state(b.queues.Intake).Msgs; left != 10 {
		t.Errorf("%d messages are left in the queue, want all 10", left)
	}
	if _, err := b.JetStream.UpdateStream(t.Context(), roomy); err != nil {
		t.Fatal(err)
	}
	b.awaitEmpty()
	b.wantOnce(10)
}

// The sequences of a new queue begin at 1 again, and none of its messages was taken.
func TestQueueMadeAnew(t *testing.T) {
	b := newBench(t)
	r := b.start()
	b.publishMany(0, 5)
	b.awaitEmpty()
	b.stop(r)
	b.emptyQueue(false)
	b.publishMany(5, 8)
	b.start()
	b.awaitEmpty()
	b.wantOnce(8)
}

// In a backup the queue is older than the log. After a restore, new messages get onto the log,
// also those that come before a receiver has looked at the queue. Messages that the log has
// do not get onto it again.
func TestQueueOlderThanTheLog(t *testing.T) {
	b := newBench(t)
	r := b.start()
	b.publishMany(0, 5)
	b.awaitEmpty()
	b.stop(r)
	b.emptyQueue(true)
	b.publishMany(0, 3) // the last two came after this copy
	for range 2 {       // the second time nothing is left to do
		if err := eventlog.GoOnAfterMark(t.Context(), b.log, b.queues.Intake); err != nil {
			t.Fatal(err)
		}
	}
	b.publishMany(5, 8)
	b.start()
	b.awaitEmpty()
	b.wantOnce(8)
}

func TestSwitchedOffIsDropped(t *testing.T) {
	b := newBench(t)
	b.off = true
	b.start()
	b.publishMany(0, 3)
	b.awaitEmpty()
	b.wantOnce(0)
	if n := b.state(b.queues.Dead).Msgs; n != 0 {
		t.Errorf("%d letters, want none", n)
	}
}

// The stream has the subjects that the receiver reads.
func TestSubjects(t *testing.T) {
	for i, subject := range migrations.IntakeSubjects("") {
		if want := subjectEvents + []string{"system", "database"}[i]; subject != want {
			t.Errorf("subject %s, want %s", subject, want)
		}
	}
}

// Another program puts messages on the subject of the queue's mark on the log, at the
// beginning, while events are taken and while none are. The receiver still takes each
// event once.
func TestForeignBlocksInThePlaceOfTheQueue(t *testing.T) {
	b := newBench(t)
	put := func() {
		t.Helper()
		if _, err := b.JetStream.Publish(t.Context(), b.queues.Prefix+"ev.from."+markName, []byte(acknowledgement)); err != nil {
			t.Fatal(err)
		}
	}
	put()
	b.publishMany(0, 3)
	first := b.start()
	b.awaitEmpty()
	put()
	b.publishMany(3, 6)
	b.awaitEmpty()
	b.stop(first)
	for range 100 { // more than are read at once
		put()
	}
	b.publishMany(6, 9)
	b.start()
	b.awaitEmpty()
	b.wantOnce(9)
	if n := b.state(b.queues.Dead).Msgs; n != 0 {
		t.Errorf("%d letters, want none", n)
	}
}

// Messages over the quota wait in the queue until the bucket has room: a flood loses
// no event and does not slow other senders.
func TestWaitsWhileOverTheQuota(t *testing.T) {
	b := newBench(t)
	var now atomic.Int64
	now.Store(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).UnixNano())
	var err error
	if b.quotas, err = quota.New(quota.Config{KeyPerMinute: 60, Now: func() time.Time { return time.Unix(0, now.Load()) }}); err != nil {
		t.Fatal(err)
	}
	b.quotas.Charge(access.Grant{Project: 7, KeyID: sourceName}, 11) // one more than there is
	b.publishMany(0, 5)
	r := b.start()
	b.await("the receiver has met the messages", func() bool { return r.since.Load() != 0 })
	if n := b.state(b.queues.Intake).Msgs; n != 5 {
		t.Errorf("%d messages wait, want 5", n)
	}
	now.Add(int64(3 * time.Second))
	b.awaitEmpty()
	if n := len(b.logged()); n != 5 {
		t.Errorf("%d events on the log, want 5", n)
	}
}

func TestLongMessageIsWhole(t *testing.T) {
	b := newBench(t)
	b.start()
	doortest.LongPayload(t, true, func(message string) []byte {
		body, err := json.Marshal(map[string]string{"message": message})
		if err != nil {
			t.Fatal(err)
		}
		b.publish("system", string(body))
		b.awaitEmpty()
		logged := b.logged()
		e, err := logged[len(logged)-1].Event()
		if err != nil {
			t.Fatal(err)
		}
		return e.Payload
	})
}
