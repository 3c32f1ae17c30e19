package ingest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
)

// memoryLog keeps events in memory, or refuses them.
type memoryLog struct {
	events []errata.Event
	err    error
}

func (l *memoryLog) Append(_ context.Context, events []errata.Event) error {
	if l.err == nil {
		l.events = append(l.events, events...)
	}
	return l.err
}

// seeded is a source of ids that is the same in every run.
func seeded() io.Reader { return rand.NewChaCha8([32]byte{7}) }

func newPipeline(t *testing.T, log ingest.Log, registry prometheus.Registerer) *ingest.Pipeline {
	t.Helper()
	p, err := ingest.New(ingest.Config{Log: log, Random: seeded(), Registerer: registry})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNewNamesWhatIsMissing(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  ingest.Config
		want string
	}{
		{"no log", ingest.Config{Random: seeded()}, "Config.Log"},
		{"no random", ingest.Config{Log: &memoryLog{}}, "Config.Random"},
	} {
		if _, err := ingest.New(c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want it to name %s", c.name, err, c.want)
		}
	}
}

// TestNewTwice: a registry that has the metrics already causes an error, no panic.
func TestNewTwice(t *testing.T) {
	cfg := ingest.Config{Log: &memoryLog{}, Random: seeded(), Registerer: prometheus.NewRegistry()}
	if _, err := ingest.New(cfg); err != nil {
		t.Fatal(err)
	}
	if _, err := ingest.New(cfg); err == nil || !strings.Contains(err.Error(), "register metrics") {
		t.Errorf("second pipeline on one registry: %v", err)
	}
}

func TestAccept(t *testing.T) {
	log, registry := &memoryLog{}, prometheus.NewRegistry()
	p := newPipeline(t, log, registry)
	src := ingest.Source{Project: 7, Received: received}
	receipt, err := p.Accept(context.Background(), src, []ingest.Draft{
		{Message: "a", ClientID: "x", Context: ingest.Context{Source: "native"}},
		{File: "nothing to say"},
		{Class: "E", Context: ingest.Context{Source: "sentry"}},
		{},
	})
	if err != nil || receipt.Accepted != 2 || len(receipt.Rejected) != 2 || receipt.Rejected[0].Index != 1 || receipt.Rejected[1].Index != 3 {
		t.Fatalf("%+v, %v", receipt, err)
	}
	for _, r := range receipt.Rejected {
		if r.Err.Kind != errata.KindInvalidEvent {
			t.Errorf("draft %d: %v", r.Index, r.Err)
		}
	}
	if len(log.events) != 2 || log.events[0].Message != "a" || log.events[1].Class != "E" {
		t.Fatalf("on the log: %+v", log.events)
	}
	if want := errata.NewEventID(7, "x"); log.events[0].ID != want {
		t.Errorf("id %s, want %s", log.events[0].ID, want)
	}
	want := map[string]float64{
		"errata_events_accepted_total native": 1, "errata_events_accepted_total sentry": 1,
		"errata_events_dropped_total invalid_event": 2,
	}
	if got := counters(t, registry); !maps.Equal(got, want) {
		t.Errorf("counters %v, want %v", got, want)
	}
}

// counters are all counters of a registry by name and label.
func counters(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			values[family.GetName()+" "+m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
		}
	}
	return values
}

// TestAcceptNothing: without a valid draft the log is not called.
func TestAcceptNothing(t *testing.T) {
	p := newPipeline(t, &memoryLog{err: errors.New("must not be called")}, nil)
	for _, drafts := range [][]ingest.Draft{nil, {}, {{}}} {
		receipt, err := p.Accept(context.Background(), ingest.Source{Received: received}, drafts)
		if err != nil || receipt.Accepted != 0 || len(receipt.Rejected) != len(drafts) {
			t.Errorf("%d drafts: %+v, %v", len(drafts), receipt, err)
		}
	}
}

// TestAcceptWhenTheLogRefuses: no event counts as accepted, and the caller gets the
// log's kind of error.
func TestAcceptWhenTheLogRefuses(t *testing.T) {
	for _, refusal := range []*errata.Error{errata.Errorf(errata.KindLogFull, "full"), errata.Errorf(errata.KindLogUnavailable, "away")} {
		registry := prometheus.NewRegistry()
		p := newPipeline(t, &memoryLog{err: refusal}, registry)
		receipt, err := p.Accept(context.Background(), ingest.Source{Received: received}, []ingest.Draft{{Message: "a"}, {Message: "b"}})
		if errata.KindOf(err) != refusal.Kind || receipt.Accepted != 0 || receipt.Rejected != nil {
			t.Errorf("%+v, %v, want %v", receipt, err, refusal)
		}
		want := map[string]float64{"errata_events_dropped_total " + string(refusal.Kind): 2}
		if got := counters(t, registry); !maps.Equal(got, want) {
			t.Errorf("counters %v, want %v", got, want)
		}
	}
}

// TestEventIDs: a UUID with and without dashes is one event, random ids differ, and
// two projects never have the same id.
func TestEventIDs(t *testing.T) {
	const plain, dashed = "6dc715abb89b4f6694ff46ae15f7dfb8", "6DC715AB-B89B-4F66-94FF-46AE15F7DFB8"
	idsOf := func(project uint64, clientIDs ...string) (ids []errata.EventID) {
		log := &memoryLog{}
		drafts := make([]ingest.Draft, len(clientIDs))
		for i, id := range clientIDs {
			drafts[i] = ingest.Draft{Message: "m", ClientID: id}
		}
		if _, err := newPipeline(t, log, nil).Accept(context.Background(), ingest.Source{Project: project, Received: received}, drafts); err != nil {
			t.Fatal(err)
		}
		for _, e := range log.events {
			ids = append(ids, e.ID)
		}
		return ids
	}
	same := idsOf(7, plain, dashed, strings.ToUpper(plain))
	if same[0] != same[1] || same[0] != same[2] || same[0] != errata.NewEventID(7, plain) {
		t.Errorf("one id has become %v", same)
	}
	apart := append(idsOf(7, plain, "Order-1", "order-1", "", "", "6dc715ab-b89b4f66-94ff-46ae-15f7dfb8", plain+"0"), idsOf(8, plain)...)
	for i := range apart {
		for k := range i {
			if apart[i] == apart[k] {
				t.Errorf("ids %d and %d are both %s", k, i, apart[i])
			}
		}
	}
}

func TestNoRandomness(t *testing.T) {
	p, err := ingest.New(ingest.Config{Log: &memoryLog{}, Random: bytes.NewReader(nil)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Accept(context.Background(), ingest.Source{Received: received}, []ingest.Draft{{Message: "m"}}); errata.KindOf(err) != errata.KindInternal || !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want an internal error with its cause", err)
	}
}
