package projector

import (
	"encoding/binary"
	"slices"

	errata "github.com/errata-log/errata"
)

const (
	// maxWindowIDs is how many event ids the window holds at most, a power of two.
	// With 24 bytes for each, a full window takes about 100 MB. It holds 70 minutes
	// at 1,000 events a second, and a whole day below 48 a second.
	maxWindowIDs = 1 << 22
	// windowAge is how far back the window reaches in receive time, in
	// milliseconds. No SDK, queue or proxy sends again after a day.
	windowAge = 24 * 60 * 60 * 1000

	minWindowIDs = 1 << 10
)

// window is the set of event ids of the last stretch of the log: an event is a
// duplicate if and only if its id is in the window. It holds whole blocks, and
// depends on the log alone: a new block drops blocks that are too old or too many.
// An id that occurs again stays as long as its last block.
type window struct {
	limit  int   // most ids, a power of two, at least errata.MaxBlockEvents
	clock  int64 // latest receive time so far, Unix milliseconds
	blocks []windowBlock
	ring   []errata.EventID // ids in log order, at [index % len]
	first  uint64           // index of the oldest id
	next   uint64           // index of the next id
	// slots maps ids to the ring by linear probing: 0 is empty, else ring
	// place + 1. Twice as long as the ring, so that probes stay short.
	slots []uint32
}

// windowBlock is one block of the window.
type windowBlock struct {
	sequence uint64
	// received is the latest receive time up to this block. It never falls: after a
	// clock was set back, the order in which blocks are dropped must not depend on
	// dropped ones.
	received int64
	events   int
}

// newWindow makes an empty window; clock is the receive time of the block
// before the first one it will get, 0 at the beginning of the log.
func newWindow(limit int, clock int64) *window {
	w := &window{limit: limit, clock: clock}
	w.resize(min(minWindowIDs, limit))
	return w
}

// begin makes room for a block with its receive time in Unix milliseconds: it drops
// blocks that are too old, or that make too many ids.
func (w *window) begin(sequence uint64, received int64, events int) {
	w.clock = max(w.clock, received)
	w.dropWhile(func(oldest windowBlock) bool {
		tooOld := oldest.received < w.clock-windowAge
		tooMany := int(w.next-w.first)+events > w.limit
		return tooOld || tooMany
	})
	w.reserve(int(w.next-w.first) + events)
	w.blocks = append(w.blocks, windowBlock{sequence: sequence, received: w.clock, events: events})
}

// reserve makes room for so many ids in all, or for the most that the window holds.
func (w *window) reserve(ids int) {
	size := len(w.ring)
	for size < min(ids, w.limit) {
		size *= 2
	}
	if size > len(w.ring) {
		w.resize(size)
	}
}

// add adds the next id of the block and says whether it was there already.
func (w *window) add(id errata.EventID) (duplicate bool) {
	place := uint32(w.next % uint64(len(w.ring)))
	w.ring[place] = id
	w.next++
	return w.put(id, place)
}

// put lets the slot of the id point to its latest place.
func (w *window) put(id errata.EventID, place uint32) (existed bool) {
	mask := uint32(len(w.slots) - 1)
	for i := slotOf(id) & mask; ; i = (i + 1) & mask {
		switch {
		case w.slots[i] == 0:
			w.slots[i] = place + 1
			return false
		case w.ring[w.slots[i]-1] == id:
			w.slots[i] = place + 1
			return true
		}
	}
}

// dropWhile drops the oldest block as long as leaves says so. An id of it that
// occurred again later stays.
func (w *window) dropWhile(leaves func(oldest windowBlock) bool) {
	drop := 0
	for ; drop < len(w.blocks) && leaves(w.blocks[drop]); drop++ {
		for range w.blocks[drop].events {
			place := uint32(w.first % uint64(len(w.ring)))
			w.first++
			w.remove(w.ring[place], place)
		}
	}
	w.blocks = slices.Delete(w.blocks, 0, drop)
}

// remove empties the slot of the id if it points to place. Then it moves later
// slots forward, because linear probing would stop at the empty one.
func (w *window) remove(id errata.EventID, place uint32) {
	mask := uint32(len(w.slots) - 1)
	i := slotOf(id) & mask
	for w.ring[w.slots[i]-1] != id {
		i = (i + 1) & mask
	}
	if w.slots[i] != place+1 {
		return
	}
	for j := (i + 1) & mask; w.slots[j] != 0; j = (j + 1) & mask {
		home := slotOf(w.ring[w.slots[j]-1]) & mask
		if (j-home)&mask >= (j-i)&mask {
			w.slots[i] = w.slots[j]
			i = j
		}
	}
	w.slots[i] = 0
}

// trim drops the blocks before the sequence.
func (w *window) trim(sequence uint64) {
	w.dropWhile(func(oldest windowBlock) bool { return oldest.sequence < sequence })
}

// resize gives the window a ring of the given size and indexes it again.
func (w *window) resize(size int) {
	ring := make([]errata.EventID, size)
	old := w.ring
	w.ring, w.slots = ring, make([]uint32, 2*size)
	for i := w.first; i < w.next; i++ {
		place := uint32(i % uint64(size))
		ring[place] = old[i%uint64(len(old))]
		w.put(ring[place], place)
	}
}

// from returns the first sequence that a starting projector must read to have this
// window again, and its clock there. An empty window needs nothing before next.
func (w *window) from(next uint64) (sequence uint64, clock int64) {
	if len(w.blocks) == 0 {
		return next, w.clock
	}
	return w.blocks[0].sequence, w.blocks[0].received
}

// slotOf chooses a slot by the first bytes of an id, which are random or of a
// SHA-256.
func slotOf(id errata.EventID) uint32 { return binary.LittleEndian.Uint32(id[:]) }
