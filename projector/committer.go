package projector

import (
	"context"
	"errors"
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/internal/failpoint"
)

// cachedRecords is how many current records the committer remembers: at about
// 600 bytes each some 80 MB, and every record seen in the last minutes.
const cachedRecords = 1 << 17

// errVanished: the insert was acknowledged, but its checkpoint is not there.
var errVanished = errors.New("the insert was taken and left no trace")

// committer turns batches into inserts. It holds what ClickHouse holds, as far
// as it knows; after an error that knowledge goes with the session.
type committer struct {
	p     *Projector
	cp    Checkpoint
	cache *lru.LRU[recordKey, errata.Record]
	known *presence
}

func newCommitter(p *Projector, cp Checkpoint, known *presence) *committer {
	cache, err := lru.NewLRU[recordKey, errata.Record](cachedRecords, nil)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return &committer{p: p, cp: cp, cache: cache, known: known}
}

// commit writes the batch and returns when the checkpoint says that it is in
// the projection. ErrRaceLost says that another projector was first.
func (c *committer) commit(ctx context.Context, b *batch) error {
	start := time.Now()
	c.p.committing.Store(b.since.UnixNano())
	work, err := c.prepare(ctx, b)
	if err != nil {
		return err
	}
	failpoint.Reach(failpoint.Folded)
	if err := c.write(ctx, work); err != nil {
		return err
	}
	failpoint.Reach(failpoint.Confirmed)
	for i := range work.changes {
		now := &work.changes[i].now
		key := recordKey{now.Book, now.Signature}
		c.cache.Add(key, *now)
		if work.changes[i].old == nil {
			c.known.add(key.hashes())
		}
	}
	c.cp = work.to
	c.p.committed(b, work, time.Since(start))
	return nil
}

// prepare computes what the batch changes, from the records as they are now.
func (c *committer) prepare(ctx context.Context, b *batch) (*commit, error) {
	old, err := c.currentRecords(ctx, b.order)
	if err != nil {
		return nil, err
	}
	work := &commit{from: c.cp, to: Checkpoint{
		Sequence: b.last, Events: c.cp.Events + b.events, Duplicates: c.cp.Duplicates + b.duplicates,
		Poison: c.cp.Poison + b.poison, WindowFrom: b.windowFrom, WindowTime: b.windowTime, Log: c.cp.Log,
	}}
	work.changes = make([]change, 0, len(b.order))
	for _, key := range b.order {
		now, payload, _, err := advance(old[key], b.deltas[key])
		if err != nil {
			c.p.cfg.Logger.Error("the context of a first sighting cannot be read", "position", now.ID, "error", err)
		}
		work.changes = append(work.changes, change{old: old[key], now: now, payload: payload})
	}
	if b.command != nil {
		work.command = b.command.Sequence
		work.answer = answerCommand(b.command)
	}
	return work, nil
}

// currentRecords finds the records of the keys: in the cache, by the certainty
// that they do not exist, and the rest in ClickHouse.
func (c *committer) currentRecords(ctx context.Context, keys []recordKey) (map[recordKey]*errata.Record, error) {
	old := make(map[recordKey]*errata.Record, len(keys))
	var missing []recordKey
	for _, key := range keys {
		if r, ok := c.cache.Get(key); ok {
			old[key] = &r
		} else if c.known.mayHave(key.hashes()) {
			missing = append(missing, key)
		}
	}
	if len(missing) == 0 {
		return old, nil
	}
	c.p.metrics.lookups.Add(float64(len(missing)))
	err := c.p.store.current(ctx, missing, func(r errata.Record) {
		old[recordKey{r.Book, r.Signature}] = &r
	})
	return old, err
}

// vanishedTries is how often an insert may be taken and leave no trace before
// its token is given up: about 40 s, longer than any replica lags.
const vanishedTries = 10

// write inserts until the outcome is known. An insert that failed may have
// happened all the same; the checkpoint tells.
func (c *committer) write(ctx context.Context, work *commit) error {
	for try := 0; ; try++ {
		insertErr := c.p.store.write(ctx, work)
		failpoint.Reach(failpoint.Inserted)
		cp, err := c.confirm(ctx)
		if err != nil {
			return err
		}
		switch {
		case cp == work.to:
			return nil
		case cp != work.from:
			return fmt.Errorf("checkpoint is %d, not %d or %d: %w", cp.Sequence, work.from.Sequence, work.to.Sequence, ErrRaceLost)
		case insertErr == nil && try >= vanishedTries:
			// The server remembers the token of an insert whose rows a power
			// cut took: its deduplication log and its parts are not one file.
			work.salt++
			try = 0
		case insertErr == nil:
			insertErr = errVanished
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.p.metrics.retries.Inc()
		c.p.failed(insertErr)
		c.p.cfg.Logger.Warn("insert failed, trying again", "error", insertErr, "try", try+1)
		if !pause(ctx, try) {
			return ctx.Err()
		}
	}
}

// confirm reads the checkpoint, for as long as it takes ClickHouse to answer.
func (c *committer) confirm(ctx context.Context) (Checkpoint, error) {
	for try := 0; ; try++ {
		cp, err := c.p.store.Checkpoint(ctx)
		if err == nil {
			return cp, nil
		}
		if ctx.Err() != nil {
			return Checkpoint{}, ctx.Err()
		}
		c.p.failed(err)
		if try == 0 {
			c.p.cfg.Logger.Warn("ClickHouse does not answer, waiting for it", "error", err)
		}
		if !pause(ctx, try) {
			return Checkpoint{}, ctx.Err()
		}
	}
}

// committed tells everybody how far the projection has come.
func (p *Projector) committed(b *batch, work *commit, took time.Duration) {
	p.status.Store(&Status{Checkpoint: work.to})
	p.committing.Store(0)
	p.metrics.committed(b, work, took)
	progress := eventlog.Progress{Checkpoint: work.to.Sequence}
	if work.command != 0 {
		progress.Answers = map[uint64]eventlog.Answer{work.command: work.answer}
	}
	if err := eventlog.AnnounceProgress(p.cfg.Log, progress); err != nil {
		p.cfg.Logger.Warn("progress was not announced, who waits will poll", "error", err)
	}
}
