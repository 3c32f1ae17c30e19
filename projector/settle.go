package projector

import (
	"context"

	"github.com/errata-log/errata/internal/background"
)

const (
	// vanishedTries is how often a confirmed insert may be missing before it is
	// tried with another token: after about 40 s, longer than any replica is
	// behind.
	vanishedTries = 25
	// vanishedTriesAlone is the same for a single server, which shows at once what
	// it has.
	vanishedTriesAlone = 1
)

// settle repeats an insert that takes the tables from one state to another, until the
// server says that it has written the rows, or confirm finds the second state. When confirm
// finds any other state, the error is race.
func settle[T comparable](
	ctx context.Context, c *committer, from, to T, insert func(salt int) (*receipt, error), confirm func(context.Context) (T, error), race func(at T) error,
) error {
	patience := vanishedTriesAlone
	if c.copies {
		patience = vanishedTries
	}
	tries, salt := c.p.insertTries(), 0
	for {
		receipt, insertErr := insert(salt)
		if insertErr == nil && salt == 0 && receipt.written() && c.trusts() {
			return nil
		}
		at, err := confirm(ctx)
		switch {
		case err != nil:
			return err
		case at == to:
			return nil
		case at != from:
			return race(at)
		case insertErr == nil:
			insertErr = errVanished
			if tries.failed >= patience {
				// A power cut may take the rows of an insert and not its token: the
				// server keeps them in different files. Then a new token is needed.
				salt++
				tries = c.p.insertTries()
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !tries.wait(ctx, insertErr) {
			return ctx.Err()
		}
	}
}

// trusts says whether what the server says of an insert without salt is enough: its token shows
// that no other projector has inserted after the same state. Behind several servers it is not,
// since the next query may ask another one, and not after a pause in which a token may be forgotten.
func (c *committer) trusts() bool { return !c.copies && c.confirmedLately() }

// confirm reads the checkpoint, and waits until ClickHouse answers. Before the first insert
// there is none; then the answer has the Log of expected.
func (c *committer) confirm(ctx context.Context, expected Checkpoint) (cp Checkpoint, err error) {
	cp, err = untilAnswered(ctx, c.p, c.p.store.Checkpoint)
	c.noteConfirmed()
	if cp.Row == 0 {
		cp.Log = expected.Log // before the first insert there is no row that has it
	}
	return cp, err
}

// insertTries are the tries of one insert.
type insertTries struct {
	p      *Projector
	pauses *background.Tries
	tell   func(why error, row int)
	failed int
}

func (p *Projector) insertTries() *insertTries {
	return &insertTries{p: p, pauses: pauses.Begin(), tell: background.Tell(p.cfg.Logger.Warn, "insert failed, trying again")}
}

// wait counts and logs that a try has failed, and waits for the next one. It returns false when
// ctx ends first.
func (t *insertTries) wait(ctx context.Context, why error) bool {
	t.failed++
	t.p.metrics.retries.Inc()
	t.p.failed(why)
	t.tell(why, t.failed)
	return t.pauses.Wait(ctx)
}

// untilAnswered asks ClickHouse until it answers or ctx ends.
func untilAnswered[T any](ctx context.Context, p *Projector, ask func(context.Context) (T, error)) (answer T, err error) {
	told := false
	for tries := pauses.Begin(); ; {
		answer, err := ask(ctx)
		if err == nil {
			return answer, nil
		}
		if ctx.Err() != nil {
			return answer, ctx.Err()
		}
		p.failed(err)
		if !told {
			told = true
			p.cfg.Logger.Warn("ClickHouse does not answer, waiting for it", "error", err)
		}
		if !tries.Wait(ctx) {
			return answer, ctx.Err()
		}
	}
}
