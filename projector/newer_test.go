package projector_test

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
)

// TestNewerFactsAreWaitedFor: two versions fold the same log, and the older one meets what
// only the newer one can read. It has all facts before that in its records, says what to do,
// and passes over nothing.
func TestNewerFactsAreWaitedFor(t *testing.T) {
	newerBlock, err := eventlog.EncodeBlock([]errata.Event{event("c", "3")})
	if err != nil {
		t.Fatal(err)
	}
	newerBlock[len("ERB")]++ // the version, and behind everything its checksum
	body := newerBlock[:len(newerBlock)-crc32.Size]
	binary.LittleEndian.PutUint32(newerBlock[len(body):], crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	if err := eventlog.CheckStored("ev.0", nil, newerBlock); err != nil {
		t.Errorf("a whole block of a newer version in a file of the log: %v", err)
	}
	for name, publish := range map[string]func(l *ledger) *nats.Msg{
		"command": func(l *ledger) *nats.Msg {
			return &nats.Msg{Subject: l.log.Prefix + "cmd.dance", Header: nats.Header{"Errata-Needs": {"2"}}, Data: []byte("{}")}
		},
		"kind of fact": func(l *ledger) *nats.Msg {
			return &nats.Msg{Subject: l.log.Prefix + "ev.dance", Header: nats.Header{"Errata-Needs": {"1.5"}}}
		},
		"block": func(l *ledger) *nats.Msg {
			return &nats.Msg{Subject: l.log.Prefix + "ev.0", Data: newerBlock}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLedger(t)
			_, stop := l.start()
			l.append(event("a", "1"))
			l.barrier()
			stop()
			l.append(event("a", "2"))
			if _, err := l.JetStream.PublishMsg(t.Context(), publish(l), jetstream.WithExpectStream(l.log.Stream)); err != nil {
				t.Fatal(err)
			}
			l.append(event("a", "4"))
			log, err := eventlog.Inspect(t.Context(), l.log)
			if err != nil {
				t.Fatal(err)
			}
			asked, err := projector.New(t.Context(), l.config())
			if err != nil {
				t.Fatal(err)
			}
			if err := asked.FoldTo(t.Context(), log.Last); !errors.Is(err, eventlog.ErrNewer) {
				t.Errorf("asked to fold up to behind it: %v, want ErrNewer", err)
			}
			l.want(map[string]uint64{"a": 2})
			if _, err := eventlog.Verify(t.Context(), l.log, nil); !errors.Is(err, eventlog.ErrNewer) {
				t.Errorf("to verify the log: %v, want ErrNewer", err)
			}
			p, _ := l.start()
			for since := time.Now(); !errors.Is(p.Status().Err, eventlog.ErrNewer); time.Sleep(time.Millisecond) { // reason: polls the status, which tells nobody that it has changed
				if time.Since(since) > time.Minute {
					t.Fatalf("the status says %v, want ErrNewer", p.Status().Err)
				}
			}
			l.want(map[string]uint64{"a": 2})
		})
	}
}
