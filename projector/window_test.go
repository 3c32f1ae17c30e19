package projector

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

// blockOf makes a decoded block of events with the given ids, received at ms.
func blockOf(t interface{ Fatal(...any) }, ms int64, ids ...int) eventlog.Block {
	events := make([]errata.Event, len(ids))
	for i, id := range ids {
		events[i] = errata.Event{ID: idOf(id), Book: errata.BookSystem, Received: time.UnixMilli(ms), Time: time.UnixMilli(ms)}
	}
	return decodedBlock(t, events)
}

// decodedBlock is the block of the events, as it comes from the log.
func decodedBlock(t interface{ Fatal(args ...any) }, events []errata.Event) eventlog.Block {
	data, err := eventlog.EncodeBlock(events)
	if err != nil {
		t.Fatal(err)
	}
	block, err := eventlog.DecodeBlock(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return block
}

// idOf spreads small numbers badly on purpose, so that probes collide.
func idOf(n int) (id errata.EventID) {
	id[0], id[15] = byte(n%7), byte(n)
	id[14] = byte(n >> 8)
	return id
}

// modelWindow does the same as window in the simplest way.
type modelWindow struct {
	limit  int
	clock  int64
	blocks []modelBlock
}

type modelBlock struct {
	sequence uint64
	received int64
	ids      []errata.EventID
}

func (m *modelWindow) size() (n int) {
	for _, b := range m.blocks {
		n += len(b.ids)
	}
	return n
}

func (m *modelWindow) addBlock(seq uint64, b eventlog.Block) (duplicates []bool) {
	m.clock = max(m.clock, b.Received)
	for len(m.blocks) > 0 && (m.blocks[0].received < m.clock-windowAge || m.size()+b.Len() > m.limit) {
		m.blocks = m.blocks[1:]
	}
	m.blocks = append(m.blocks, modelBlock{sequence: seq, received: m.clock})
	for i := range b.Len() {
		seen := false
		for _, block := range m.blocks {
			for _, id := range block.ids {
				seen = seen || id == b.ID(i)
			}
		}
		duplicates = append(duplicates, seen)
		last := &m.blocks[len(m.blocks)-1]
		last.ids = append(last.ids, b.ID(i))
	}
	return duplicates
}

func addBlock(w *window, seq uint64, b eventlog.Block) (duplicates []bool) {
	w.begin(seq, b.Received, b.Len())
	for i := range b.Len() {
		duplicates = append(duplicates, w.add(b.ID(i)))
	}
	return duplicates
}

// TestWindowModel: the window finds the same duplicates as the model. So does,
// after any part of any log, a new window that begins at the sequence from its
// method from.
func TestWindowModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const limit = 64
		w, model := newWindow(limit, 0), &modelWindow{limit: limit}
		var log []eventlog.Block
		now := int64(1_700_000_000_000)
		restart := rapid.IntRange(0, 60).Draw(t, "restart")
		for seq := uint64(1); seq <= 60; seq++ {
			now += rapid.SampledFrom([]int64{0, 1, 1000, windowAge / 3, -5000, windowAge}).Draw(t, "step")
			block := blockOf(t, now, rapid.SliceOfN(rapid.IntRange(0, 100), 1, 20).Draw(t, "ids")...)
			log = append(log, block)
			want, got := model.addBlock(seq, block), addBlock(w, seq, block)
			for i := range want {
				if want[i] != got[i] {
					t.Fatalf("block %d event %d: duplicate %v, want %v", seq, i, got[i], want[i])
				}
			}
			if int(seq) == restart {
				from, clock := w.from(seq + 1)
				w = newWindow(limit, clock)
				for s := from; s <= seq; s++ {
					addBlock(w, s, log[s-1])
				}
			}
		}
	})
}

func TestWindowFrom(t *testing.T) {
	w := newWindow(64, 0)
	if got, _ := w.from(7); got != 7 {
		t.Errorf("an empty window begins at %d, want the next sequence 7", got)
	}
	addBlock(w, 7, blockOf(t, 1000, 1, 2))
	addBlock(w, 8, blockOf(t, 1000+windowAge, 3))
	if got, _ := w.from(9); got != 7 {
		t.Errorf("a block of exactly the window's age is gone: from %d, want 7", got)
	}
	addBlock(w, 9, blockOf(t, 1001+windowAge, 4))
	if got, _ := w.from(10); got != 8 {
		t.Errorf("from %d, want 8 once block 7 is too old", got)
	}
}

// TestWindowAfterClockSetBack: a block that was received after a clock was set back
// stays in the window as long as without a restart.
func TestWindowAfterClockSetBack(t *testing.T) {
	w := newWindow(64, 0)
	addBlock(w, 1, blockOf(t, 2*windowAge, 1))
	addBlock(w, 2, blockOf(t, windowAge, 2))                      // the clock was set back
	addBlock(w, 3, blockOf(t, 3*windowAge-1, make([]int, 62)...)) // drops block 1: too many ids
	from, clock := w.from(4)
	again := newWindow(64, clock)
	addBlock(again, 2, blockOf(t, windowAge, 2))
	addBlock(again, 3, blockOf(t, 3*windowAge-1, make([]int, 62)...))
	if from != 1 && from != 2 {
		t.Fatalf("window begins at %d", from)
	}
	late := blockOf(t, 3*windowAge-1, 2)
	if want, got := addBlock(w, 4, late)[0], addBlock(again, 4, late)[0]; want != got {
		t.Errorf("duplicate %v after the restart, %v without it", got, want)
	}
}

func BenchmarkWindowAdd(b *testing.B) {
	w := newWindow(maxWindowIDs, 0)
	block := blockOf(b, 0, make([]int, 250)...)
	for i := 0; b.Loop(); i++ {
		if i%250 == 0 {
			w.begin(uint64(i), block.Received, block.Len())
		}
		var id errata.EventID
		h := uint64(i) * 0x9e3779b97f4a7c15
		for k := range 8 {
			id[k], id[8+k] = byte(h>>(8*k)), byte(h>>(8*k))
		}
		w.add(id)
	}
}
