package familiar_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/netip"
	"slices"
	"testing"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/signin"
	"github.com/errata-log/errata/signin/familiar"
)

// rawLog is a log of messages as they are. Its reader ends at its end.
type rawLog struct {
	messages [][]byte
	caughtUp chan struct{}
}

func (l *rawLog) Span(context.Context) (string, uint64, uint64, error) {
	return "1", 1, uint64(len(l.messages)), nil
}

func (l *rawLog) Read(_ context.Context, from uint64) (familiar.Reader, error) {
	return &rawReader{l, from}, nil
}

type rawReader struct {
	log  *rawLog
	next uint64
}

func (r *rawReader) Close() {}

func (r *rawReader) Next(ctx context.Context) (eventlog.Fact, error) {
	if r.next > uint64(len(r.log.messages)) {
		close(r.log.caughtUp)
		<-ctx.Done()
		return eventlog.Fact{}, ctx.Err()
	}
	r.next++
	return eventlog.Fact{Sequence: r.next - 1, Data: r.log.messages[r.next-2]}, nil
}

// A message that is no outcome is left out and reported, and the outcomes
// behind it are applied.
func TestForeignOutcomesAreLeftOut(t *testing.T) {
	ada := familiar.Key(signin.Admin, "ada")
	outcome, err := json.Marshal(familiar.Outcome{
		Account: ada, Side: signin.Admin, At: start.UnixMilli(), Address: netip.MustParseAddr("192.0.2.1"), Success: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	log := &rawLog{caughtUp: make(chan struct{})}
	for _, text := range []string{
		`{"stream":"ERRORS","seq":1}`, "", "poison", `[]`, `{"account":"................................","success":true,"ip":"192.0.2.1"}`,
		`{"account":"ABCDEFABCDEFABCDEFABCDEFABCDEFAB","success":true,"ip":"192.0.2.1"}`, `{"account":"` + ada + `","ip":"nowhere"}`,
	} {
		log.messages = append(log.messages, []byte(text))
	}
	foreign := len(log.messages)
	log.messages = append(log.messages, outcome)
	skipped := map[uint64]bool{}
	s := newStore()
	m := newMemory(t, s, 30)
	f, err := familiar.NewFollower(m, log, nil, func(sequence uint64, why error) { skipped[sequence] = why != nil })
	if err != nil {
		t.Fatal(err)
	}
	f.Start()
	<-log.caughtUp
	if err := f.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if told := slices.Sorted(maps.Keys(skipped)); len(told) != foreign || told[0] != 1 || told[foreign-1] != uint64(foreign) {
		t.Errorf("%v were told, want 1 to %d", told, foreign)
	}
	if known, err := m.Known(t.Context(), ada); err != nil || len(known.Addresses) != 1 {
		t.Errorf("known is %+v, error %v", known, err)
	}
}
