package projector

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/errata-log/errata/internal/failpoint"
)

// precede writes what must be in the tables before the records are: the rollups, the
// contexts, and which deployments are gone. They do not depend on each other, so all
// are written at the same time: the log of many new records is folded a fifth faster.
func (c *committer) precede(ctx context.Context, work *commit) error {
	store, key, to := c.p.store, c.p.store.shardKey(), work.to.Sequence
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return c.addRollup(ctx, hourlyOf(work.changes, key, to), &c.rolled.hourly, to) })
	group.Go(func() error {
		return c.addRollup(ctx, deploymentsOf(work.changes, key, to), &c.rolled.deployments, to)
	})
	group.Go(func() error {
		return c.addRollup(ctx, occurrencesOf(work.occurred, key, to), &c.rolled.occurrences, to)
	})
	group.Go(func() error {
		if work.decide == nil {
			return nil
		}
		d, err := work.decide(ctx)
		if err != nil {
			return err
		}
		if err := c.addRollup(ctx, firingsOf(d.fired, key, c.rolled.firings, to), &c.rolled.firings, to); err != nil {
			return err
		}
		failpoint.Reach(failpoint.Fired)
		return c.addRollup(ctx, activityOf(&d, key, to), &c.rolled.activity, to)
	})
	group.Go(func() error {
		return c.untilWritten(ctx, "insert payloads", func() error { return store.writePayloads(ctx, work.changes) })
	})
	group.Go(func() error {
		return c.untilWritten(ctx, "insert which deployments are gone", func() error { return store.writeGone(ctx, work.changes, work.sequence()) })
	})
	if err := group.Wait(); err != nil {
		return err
	}
	failpoint.Reach(failpoint.Payloads)
	return nil
}

// untilWritten repeats an insert whose rows are the same each time, until it succeeds.
func (c *committer) untilWritten(ctx context.Context, what string, insert func() error) error {
	tries := pauses.Begin()
	for try := 0; ; try++ {
		err := insert()
		if err == nil || ctx.Err() != nil {
			return err
		}
		c.p.retrying(fmt.Errorf("%s: %w", what, err), try)
		if !tries.Wait(ctx) {
			return ctx.Err()
		}
	}
}
