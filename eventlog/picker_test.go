package eventlog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

// TestPicker: any event is found by its position alone; one that is purged, or whose
// place another fact has, is gone.
func TestPicker(t *testing.T) {
	l := newLog(t)
	a := l.appender(t)
	want := map[errata.Position]errata.Event{}
	for seq := uint64(1); seq <= 6; seq++ {
		events := make([]errata.Event, 5)
		for i := range events {
			events[i] = event(fmt.Sprint(seq, "-", i))
			events[i].Payload = fmt.Appendf(nil, `{"event_id":"%d-%d"}`, seq, i)
			events[i].Trail = errata.Trail{ClientID: fmt.Sprint(seq, "-", i)}
			want[errata.PositionOf(seq, i)] = events[i]
		}
		if err := a.Append(t.Context(), events); err != nil {
			t.Fatal(err)
		}
	}
	if err := eventlog.PadTo(t.Context(), l.Log, 7); err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_795_231_120, 0)
	p := eventlog.NewPicker(l.Log, func() time.Time { return now })
	for at, e := range want {
		if got, err := p.Event(t.Context(), at); err != nil || got.ID != e.ID || !bytes.Equal(got.Payload, e.Payload) || got.Trail.ClientID != e.Trail.ClientID {
			t.Errorf("at %d: %+v, %v", at, got, err)
		}
	}
	for what, at := range map[string]errata.Position{
		"no event of its block": errata.PositionOf(3, 5), "a fact that is no block": errata.PositionOf(7, 0), "behind the end": errata.PositionOf(9, 0), "none at all": 0,
	} {
		if _, err := p.Event(t.Context(), at); !errors.Is(err, eventlog.ErrEventGone) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := eventlog.Purge(t.Context(), l.Log, 4); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Minute) // the blocks in memory are forgotten
	for at := range want {
		if _, err := p.Event(t.Context(), at); errors.Is(err, eventlog.ErrEventGone) != (at.Sequence() < 4) {
			t.Errorf("at %d after the purge: %v", at, err)
		}
	}
}

// TestPickerKeepsBlocks: of the events of a block only the first one is asked of the
// log, for a while; and the memory for that has a bound.
func TestPickerKeepsBlocks(t *testing.T) {
	l := newLog(t)
	a := l.appender(t)
	const blocks = 40 // of half a megabyte
	for seq := range blocks {
		events := make([]errata.Event, 8)
		for i := range events {
			events[i] = event(fmt.Sprint(seq, "-", i))
			events[i].Payload = bytes.Repeat([]byte("x"), 60<<10)
		}
		if err := a.Append(t.Context(), events); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Unix(1_795_231_120, 0)
	p := eventlog.NewPicker(l.Log, func() time.Time { return now })
	for seq := uint64(1); seq <= blocks; seq++ {
		if _, err := p.Event(t.Context(), errata.PositionOf(seq, 0)); err != nil {
			t.Fatal(err)
		}
	}
	away, cancel := context.WithCancel(t.Context())
	cancel() // the log is not asked any more
	kept := func() (n int) {
		for seq := uint64(1); seq <= blocks; seq++ {
			if _, err := p.Event(away, errata.PositionOf(seq, 7)); err == nil {
				n++
			}
		}
		return n
	}
	if n := kept(); n < 8 || n > 20 {
		t.Errorf("%d of %d blocks are kept", n, blocks)
	}
	if _, err := p.Event(away, errata.PositionOf(blocks, 3)); err != nil {
		t.Errorf("the latest block: %v", err)
	}
	if now = now.Add(time.Minute); kept() != 0 {
		t.Error("blocks are kept for longer than a minute")
	}
}

// TestPickerOfADamagedLog: a damaged event is never taken for a sound one.
func TestPickerOfADamagedLog(t *testing.T) {
	l := newLog(t)
	broken, err := eventlog.EncodeBlock([]errata.Event{event("a"), event("b")})
	if err != nil {
		t.Fatal(err)
	}
	broken[len(broken)/2] ^= 1
	if _, err := l.Log.JetStream.Publish(t.Context(), l.Log.Prefix+"ev.0", broken); err != nil {
		t.Fatal(err)
	}
	if _, err := eventlog.NewPicker(l.Log, nil).Event(t.Context(), errata.PositionOf(1, 0)); !errors.Is(err, eventlog.ErrEventUnreadable) {
		t.Error(err)
	}
}
