package projector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/internal/failpoint"
)

// errVanished: ClickHouse confirmed the insert, but its checkpoint is not there.
var errVanished = errors.New("ClickHouse confirmed the insert, and its checkpoint is not there")

// committer makes inserts of batches. It remembers what the tables hold, with the step that
// is being written. After an error its memory may be wrong, so each session has a new
// committer.
type committer struct {
	p *Projector
	// cp is the checkpoint behind the last step, which is written or being written.
	cp Checkpoint
	// totals are the totals at cp. cp has them too, unless an older version wrote
	// it.
	totals Totals
	rolled rolledTo
	// fold is the FoldVersion of the next checkpoints.
	fold int
	// copies says that queries may go to another server than the one that took an insert.
	copies bool
	cache  *remembered
	known  *presence
	picker *eventlog.Picker
	met    *eventlog.Texts // of first events
	// steps hands steps over to the writer; last is the last one, nil before the first.
	// waiting is one whose records are written with those of the next batch, nil for none.
	steps         chan *step
	last, waiting *step
	// besides gets the outcome of what goes on while the next batch is prepared, nil when nothing
	// does. running waits for its goroutine.
	besides <-chan error
	running sync.WaitGroup
	// confirmed is when it was last known that the checkpoint is cp.
	confirmed atomic.Pointer[time.Time]
	// spent is what was spent of the budget of new records in the turn spentTurn.
	spent     spending
	spentTurn uint64
	// watching decides by the rules, nil without any. remembers says that it has been told
	// what was before.
	watching  *watching
	rules     *alertRules
	remembers bool
	// written is what is written with the next batch of what these rules count of the past.
	written decided
}

func newCommitter(p *Projector, cp Checkpoint, totals Totals, rolled rolledTo, known *presence) *committer {
	spent, ok := openSpending(cp.Budget.Spent)
	if !ok {
		panic("the budget of a checkpoint cannot be decoded") // decodeCheckpoint refuses it
	}
	fold := min(cp.Fold, FoldVersion)
	if cp.Row == 0 || p.cfg.Quiet { // a rebuild begins with what the log still gives
		fold = FoldVersion
	}
	c := &committer{
		p: p, cp: cp, totals: totals, rolled: rolled, fold: fold, copies: true, cache: newRemembered(rememberedRecords, p.cfg.SpillFolder, p.cfg.Logger), known: known,
		picker: eventlog.NewPicker(p.cfg.Log, nil), met: eventlog.NewTexts(),
		spent: spent, spentTurn: cp.Budget.Turn, steps: make(chan *step),
	}
	c.noteConfirmed()
	return c
}

// commit writes the batch and returns when it is known that it is in the
// tables. A full batch without a command is handed over to the writer instead, when all
// that must be there before it is written. ErrRaceLost says that another projector was first.
func (c *committer) commit(ctx context.Context, b *batch) error {
	start, since := time.Now(), b.since
	if c.waiting != nil {
		since = c.waiting.since
	}
	c.p.preparing.Store(since.UnixNano())
	cmd := parseCommand(b.command)
	if cmd != nil { // what it changes must be in the tables
		if err := c.awaitWriter(ctx); err != nil {
			return err
		}
	}
	if err := c.stillOurs(ctx); err != nil {
		return err
	}
	work, err := c.prepare(ctx, b, cmd)
	if err != nil {
		return err
	}
	c.p.front.Store(b.last) // before the first row of it can be read
	if cmd == nil {
		return c.handOver(ctx, &step{work: work, folded: b.folded, began: start}, b.followed())
	}
	// Otherwise all facts before the command were committed in an earlier session.
	if !cmd.alone() || work.to.Sequence > c.cp.Sequence {
		if err := c.apply(ctx, work); err != nil {
			return err
		}
	}
	if cmd.alone() {
		if work, err = c.workAlone(ctx, cmd, work.to); err != nil {
			return err
		}
	}
	c.p.committed(&b.folded, work, time.Since(start))
	return nil
}

// longPause is how long a committer may be idle, or its process may be stopped,
// before it reads the checkpoint again.
const longPause = 5 * time.Second

// stillOurs reads the checkpoint again after a long pause. ClickHouse remembers
// tokens for a long time but not for ever, and after that a token does not stop a
// projector that slept.
func (c *committer) stillOurs(ctx context.Context) error {
	// The writer sees to it anyway.
	if c.writing() || c.confirmedLately() {
		return nil
	}
	ours := c.handedOver()
	cp, err := c.confirm(ctx, ours)
	if err == nil && cp != ours {
		err = fmt.Errorf("checkpoint is row %d, not %d: %w", cp.Row, ours.Row, ErrRaceLost)
	}
	return err
}

// noteConfirmed notes that the checkpoint is known to be the one of this committer.
func (c *committer) noteConfirmed() {
	now := time.Now()
	c.confirmed.Store(&now)
}

// confirmedLately says that it was known so lately that no token is forgotten since.
func (c *committer) confirmedLately() bool { return time.Since(*c.confirmed.Load()) < longPause }

// prepare computes what the batch changes, from the records as they are now. It
// leaves out the sequence and the changes of a command for which alone is true.
func (c *committer) prepare(ctx context.Context, b *batch, cmd *command) (*commit, error) {
	c.cache.turn()
	old, err := c.currentRecords(ctx, withCommand(b, cmd))
	if err != nil {
		return nil, err
	}
	if err := c.spend(ctx, b, old); err != nil {
		return nil, err
	}
	if err := c.readAgain(ctx, b, old); err != nil {
		return nil, err
	}
	keys := withCommand(b, cmd)
	w := c.watch(b)
	changes, unreadable := changesOf(b, keys, old, w)
	for _, id := range unreadable {
		c.p.cfg.Logger.Error("the context of a first sighting cannot be read", "position", id)
	}
	last := b.last
	if cmd.alone() {
		last--
	}
	to := c.cp.next(last)
	to.Events, to.Duplicates, to.Poison, to.Off = to.Events+b.events, to.Duplicates+b.duplicates, to.Poison+b.poison, to.Off+b.off
	to.Deployed, to.Occurred = to.Deployed+b.events, to.Occurred+b.events
	to.WindowFrom, to.WindowTime, to.RecordingOff = b.windowFrom, b.windowTime, b.recording.off
	to.Budget = b.budget
	to.Budget.Spent = c.spent.encode()
	work := &commit{from: c.cp, to: to, occurred: &b.occurred}
	if w != nil {
		work.decide = func(ctx context.Context) (decided, error) { return c.decide(ctx, b) }
	}
	if cmd != nil && !cmd.alone() {
		work.command, work.answer = cmd.sequence, encodeAnswer(cmd.apply(changes))
	}
	work.changes = slices.DeleteFunc(changes, func(c change) bool { return c.nothing() })
	return work, nil
}

// withCommand returns the keys of the batch, then those of its command.
func withCommand(b *batch, cmd *command) []recordKey {
	keys := b.order
	if cmd == nil {
		return keys
	}
	for _, key := range cmd.keys {
		if _, folded := b.deltas[key]; !folded {
			keys = append(slices.Clip(keys), key)
		}
	}
	return keys
}

// apply writes one step and remembers what it changed.
func (c *committer) apply(ctx context.Context, work *commit) error {
	if err := c.begin(ctx, work, work); err != nil {
		return err
	}
	return c.write(ctx, work)
}

// begin writes what must be in the tables before the records of a batch or a command, and
// remembers what it changes. sums is the step whose sums are due, nil for none yet.
func (c *committer) begin(ctx context.Context, work, sums *commit) error {
	failpoint.Reach(failpoint.Folded)
	work.to.Fold = c.fold
	work.to.Totals = c.totals.after(work.changes)
	if work.sweep != nil {
		work.to.Totals = work.to.Totals.less(work.sweep.takes)
	}
	if err := c.precede(ctx, work, sums); err != nil {
		return err
	}
	for i := range work.changes {
		ch := &work.changes[i]
		switch {
		// A command over millions of records would fill the memory with them.
		case ch.now == nil, work.isChunk() && c.cache.get(ch.key) == nil:
			c.cache.remove(ch.key)
		default:
			c.cache.put(ch.key, ch.now)
			if ch.old == nil {
				c.known.add(ch.key.hashes())
			}
		}
	}
	if work.sweep != nil {
		c.forget(work.sweep)
	}
	c.cp, c.totals = work.to, work.to.Totals
	return nil
}

// forget removes the records of a chunk of a cleanup from the cache.
func (c *committer) forget(chunk *sweepChunk) {
	c.cache.removeWhere(func(key recordKey, r *errata.Record) bool {
		return !r.LastSeen.After(chunk.before) && chunk.covers(key.signature)
	})
}

// currentRecords finds the records of the keys that exist. It asks ClickHouse only
// for those that are not remembered and that c.known does not exclude.
func (c *committer) currentRecords(ctx context.Context, keys []recordKey) (map[recordKey]*errata.Record, error) {
	old := map[recordKey]*errata.Record{}
	var missing []recordKey
	for i, key := range keys {
		r := c.remembered(key)
		if r == nil && c.known.mayHave(key.hashes()) {
			if r = c.cache.spilled(key); r == nil {
				missing = append(missing, key)
			}
		}
		if r == nil {
			continue
		}
		if len(old) == 0 {
			old = make(map[recordKey]*errata.Record, len(keys)-i)
		}
		old[key] = r
	}
	if len(missing) == 0 {
		return old, nil
	}
	c.p.metrics.lookups.Add(float64(len(missing)))
	// What is not in the tables yet is remembered.
	from := c.handedOver().Row
	if c.writing() {
		from = c.last.after
	}
	err := c.p.store.current(ctx, missing, from, c.cp.Row, func(r errata.Record) {
		old[recordKey{r.Book, r.Signature}] = &r
	})
	return old, err
}

// write inserts until the outcome is known. After an error the insert may have
// happened; the checkpoint says whether it has.
func (c *committer) write(ctx context.Context, work *commit) error {
	err := settle(ctx, c, work.from, work.to, func(salt int) (*receipt, error) {
		work.salt = salt
		receipt, err := c.p.store.write(ctx, work)
		failpoint.Reach(failpoint.Inserted)
		return receipt, err
	}, func(ctx context.Context) (Checkpoint, error) { return c.confirm(ctx, work.from) }, func(cp Checkpoint) error {
		return fmt.Errorf("checkpoint is row %d, not %d or %d: %w", cp.Row, work.from.Row, work.to.Row, ErrRaceLost)
	})
	if err != nil {
		return err
	}
	c.noteConfirmed()
	failpoint.Reach(failpoint.Confirmed)
	if c.p.tidier == nil {
		return nil
	}
	c.p.tidier.wrote.Store(work.to.Row)
	if work.sweep != nil || slices.ContainsFunc(work.changes, func(ch change) bool { return ch.removed() || ch.fleeting() != 0 }) {
		c.p.tidier.removed.Store(work.sequence())
	}
	return nil
}
