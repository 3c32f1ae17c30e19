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
// sums is the step whose sums are due. It is nil when the records wait for the next batch: then
// the occurrences are written beside that batch.
func (c *committer) precede(session context.Context, work, sums *commit) error {
	store, key, to := c.p.store, c.p.store.shardKey(), work.to.Sequence
	group, ctx := errgroup.WithContext(session)
	if sums != nil {
		group.Go(func() error { return c.sumUp(ctx, sums.changes, to) })
	}
	group.Go(func() error {
		if err := c.awaitBeside(ctx); err != nil || sums == nil {
			return err
		}
		return c.addOccurrences(ctx, work.occurred, to)
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
	if occurred := work.occurred; sums == nil {
		c.beside(func() error { return c.addOccurrences(session, occurred, to) })
	}
	return nil
}

func (c *committer) addOccurrences(ctx context.Context, occurred *occurrences, to uint64) error {
	return c.addRollup(ctx, occurrencesOf(occurred, c.p.store.shardKey(), to), &c.rolled.occurrences, to)
}

// beside starts what goes on while the next batch is prepared.
func (c *committer) beside(do func() error) {
	done := make(chan error, 1)
	c.besides = done
	c.running.Go(func() { done <- do() })
}

// awaitBeside returns when that is done.
func (c *committer) awaitBeside(ctx context.Context) error {
	if c.besides == nil {
		return nil
	}
	select {
	case err := <-c.besides:
		c.besides = nil
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// sumUp adds the events of the changes to the rollups that have sums.
func (c *committer) sumUp(ctx context.Context, changes []change, to uint64) error {
	key := c.p.store.shardKey()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return c.addRollup(ctx, hourlyOf(changes, key, to), &c.rolled.hourly, to) })
	group.Go(func() error { return c.addRollup(ctx, deploymentsOf(changes, key, to), &c.rolled.deployments, to) })
	return group.Wait()
}

// untilWritten repeats an insert whose rows are the same each time, until it succeeds.
func (c *committer) untilWritten(ctx context.Context, what string, insert func() error) error {
	for tries := c.p.insertTries(); ; {
		err := insert()
		if err == nil || ctx.Err() != nil {
			return err
		}
		if !tries.wait(ctx, fmt.Errorf("%s: %w", what, err)) {
			return ctx.Err()
		}
	}
}
