package ingest_test

import (
	"context"
	"maps"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
)

// TestSwitchedOff: while recording is off no event reaches the log and all drafts
// are counted. The switch counts from the next request on.
func TestSwitchedOff(t *testing.T) {
	log, registry := &memoryLog{}, prometheus.NewRegistry()
	on := true
	p, err := ingest.New(ingest.Config{
		Log: log, Random: seeded(), Registerer: registry,
		Switches: func() errata.Logging { return errata.Logging{ErrorLog: on} },
	})
	if err != nil {
		t.Fatal(err)
	}
	drafts := []ingest.Draft{{Message: "a", Context: ingest.Context{Source: "native"}}, {}}
	refused := []ingest.Rejection{{Index: 1}}
	for i, c := range []struct {
		on   bool
		want ingest.Receipt
		log  int
	}{
		{false, ingest.Receipt{Dropped: 2}, 0},
		{true, ingest.Receipt{Accepted: 1, Rejected: refused}, 1},
		{false, ingest.Receipt{Dropped: 2}, 1},
		{true, ingest.Receipt{Accepted: 1, Rejected: refused}, 2},
	} {
		on = c.on
		got, err := p.Accept(t.Context(), ingest.Source{Project: 7, Received: received}, drafts)
		for i := range got.Rejected {
			got.Rejected[i].Err = nil
		}
		if err != nil || !reflect.DeepEqual(got, c.want) || len(log.events) != c.log {
			t.Errorf("step %d: %+v, %v, %d on the log, want %+v and %d", i, got, err, len(log.events), c.want, c.log)
		}
	}
	want := map[string]float64{
		"errata_events_accepted_total native": 2, "errata_events_dropped_total invalid_event": 2, "errata_events_dropped_total switched_off": 4,
	}
	if got := counters(t, registry); !maps.Equal(got, want) {
		t.Errorf("counters %v, want %v", got, want)
	}
}

// countingLog counts the events.
type countingLog struct{ events atomic.Int64 }

func (l *countingLog) Append(_ context.Context, events []errata.Event) error {
	l.events.Add(int64(len(events)))
	return nil
}

// TestSwitchedWhileSending: while the switch changes, each draft is either on the log
// or dropped, and the receipts say which.
func TestSwitchedWhileSending(t *testing.T) {
	log := &countingLog{}
	var on atomic.Bool
	p, err := ingest.New(ingest.Config{
		Log: log, Random: seeded(), Switches: func() errata.Logging { return errata.Logging{ErrorLog: on.Load()} },
	})
	if err != nil {
		t.Fatal(err)
	}
	const senders, each = 8, 200
	var accepted, dropped atomic.Int64
	var sending sync.WaitGroup
	for range senders {
		sending.Go(func() {
			for i := range each {
				on.Store(i%3 != 0)
				r, err := p.Accept(t.Context(), ingest.Source{Received: received}, []ingest.Draft{{Message: "m"}, {Class: "E"}})
				if err != nil || r.Accepted+r.Dropped != 2 || r.Accepted*r.Dropped != 0 {
					t.Errorf("%+v, %v", r, err)
				}
				accepted.Add(int64(r.Accepted))
				dropped.Add(int64(r.Dropped))
			}
		})
	}
	sending.Wait()
	if accepted.Load() != log.events.Load() || accepted.Load()+dropped.Load() != 2*senders*each {
		t.Errorf("%d accepted, %d dropped, %d on the log", accepted.Load(), dropped.Load(), log.events.Load())
	}
}
