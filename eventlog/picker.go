package eventlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	errata "github.com/errata-log/errata"
)

// Errors of a Picker that its caller must tell apart.
var (
	// ErrEventGone: the log has no event at the position: it was purged, its fact is
	// lost, or there was never one.
	ErrEventGone = errors.New("the log does not hold the event any more")
	// ErrEventUnreadable: the event is on the log, and its bytes have changed.
	ErrEventUnreadable = errors.New("the event on the log cannot be read")
)

const (
	// pickedBytes bounds the decompressed blocks that a Picker keeps: some ten large
	// ones. Who goes from one occurrence to the next often stays in a block.
	pickedBytes = 8 << 20
	// pickedFor is how long a block is kept, so that what was purged or erased is
	// soon gone here too.
	pickedFor = 30 * time.Second
)

// Picker reads single events of the log by their positions. Several goroutines may
// use it at a time.
type Picker struct {
	log Log
	now func() time.Time

	mu   sync.Mutex
	kept []pickedBlock // the one that was used last stands last
	size int           // bytes of kept
}

type pickedBlock struct {
	sequence uint64
	entries  []Entry
	size     int
	read     time.Time
}

// entrySize is what an entry takes beside the bytes of its block.
const entrySize = 96

// NewPicker makes a Picker. now is the clock, nil for that of the machine.
func NewPicker(log Log, now func() time.Time) *Picker {
	if now == nil {
		now = time.Now
	}
	return &Picker{log: log, now: now}
}

// Event reads the event at the position. Errors: ErrEventGone, ErrEventUnreadable;
// any other says that the log did not answer.
func (p *Picker) Event(ctx context.Context, at errata.Position) (errata.Event, error) {
	e, err := p.entry(ctx, at)
	if err != nil {
		return errata.Event{}, err
	}
	ev, err := e.Event()
	if err != nil {
		return errata.Event{}, fmt.Errorf("read the event at %d: %w: %w", at, ErrEventUnreadable, err)
	}
	return ev, nil
}

// Entry reads the event at the position as an entry with bytes of its own. The errors are
// those of Event.
func (p *Picker) Entry(ctx context.Context, at errata.Position) (Entry, error) {
	e, err := p.entry(ctx, at)
	return e.Clone(), err
}

func (p *Picker) entry(ctx context.Context, at errata.Position) (Entry, error) {
	entries, err := p.entries(ctx, at.Sequence())
	if err != nil {
		return Entry{}, fmt.Errorf("read the event at %d: %w", at, err)
	}
	if at.Index() >= len(entries) {
		return Entry{}, fmt.Errorf("read event %d of %d in block %d: %w", at.Index(), len(entries), at.Sequence(), ErrEventGone)
	}
	return entries[at.Index()], nil
}

// entries returns those of the block at the sequence, from memory or from the log.
func (p *Picker) entries(ctx context.Context, sequence uint64) ([]Entry, error) {
	if sequence == 0 { // the log asks for no less than 1
		return nil, ErrEventGone
	}
	if entries, found := p.find(sequence); found {
		return entries, nil
	}
	m, found, err := getMessage(ctx, p.log, messageQuery{Sequence: sequence})
	if err != nil {
		return nil, err
	}
	if kind, _ := parseSubject(m.bareSubject(p.log)); !found || kind != FactEvents {
		return nil, ErrEventGone // another fact may fill the place of a lost one
	}
	block, err := DecodeBlock(m.data, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEventUnreadable, err)
	}
	entries := make([]Entry, 0, block.Len())
	block.Entries(func(_ int, e Entry) { entries = append(entries, e) })
	p.keep(pickedBlock{sequence: sequence, entries: entries, size: len(block.raw) + len(entries)*entrySize, read: p.now()})
	return entries, nil
}

// find looks for a block in memory.
func (p *Picker) find(sequence uint64) ([]Entry, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.now().Add(-pickedFor)
	p.drop(func(b *pickedBlock) bool { return b.read.Before(old) })
	for i := range p.kept {
		if b := p.kept[i]; b.sequence == sequence {
			p.kept = append(slices.Delete(p.kept, i, i+1), b)
			return b.entries, true
		}
	}
	return nil, false
}

// keep keeps a block, and drops those that were used longest ago when there are too
// many.
func (p *Picker) keep(b pickedBlock) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(func(other *pickedBlock) bool { return other.sequence == b.sequence })
	p.kept = append(p.kept, b)
	p.size += b.size
	over := p.size - pickedBytes
	p.drop(func(b *pickedBlock) bool {
		if over <= 0 {
			return false
		}
		over -= b.size
		return true
	})
}

// drop drops the blocks for which old is true.
func (p *Picker) drop(old func(*pickedBlock) bool) {
	p.kept = slices.DeleteFunc(p.kept, func(b pickedBlock) bool {
		gone := old(&b)
		if gone {
			p.size -= b.size
		}
		return gone
	})
}
