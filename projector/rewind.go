package projector

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/errata-log/errata/eventlog"
)

var (
	//go:embed sql/table_engine.sql
	sqlTableEngine string
	//go:embed sql/young_parts.sql
	sqlYoungParts string
)

// ErrCannotRewind says that the records cannot be brought back to their state
// before the damaged part was written.
var ErrCannotRewind = errors.New("the records cannot be taken back to before the damage")

// hasCopies says whether queries may go to another server than the one that took an
// insert.
func (s *Store) hasCopies(ctx context.Context) (bool, error) {
	plain, err := one[bool](ctx, s, "ask what kind of table the records are", sqlTableEngine)
	return !plain, err
}

// RewindRows is how many rows a rewind drops at most: about two minutes of the
// heaviest load, which are folded again in seconds.
const RewindRows = 250_000

// Rewind brings the records back to the moment before the part was written, and
// lets the projector fold what came since again. Parts hold the batches in order,
// so without the youngest parts the table is what it was at an earlier checkpoint.
// With part "", Rewind goes back to the latest state that is undamaged. It drops
// nothing before the totals of the earlier checkpoint prove that the rest of the
// table is right. Nobody else may write the table meanwhile.
//
// ErrCannotRewind says that the totals are not right, that there are more than
// [RewindRows] to fold again, or that the log does not reach back so far. Then
// nothing was changed.
func (p *Projector) Rewind(ctx context.Context, part string) (to Checkpoint, err error) {
	goOn, err := p.hold(ctx)
	if err != nil {
		return to, err
	}
	defer goOn()
	// A merge could make the part a piece of another one meanwhile.
	release, err := p.store.merges.Hold(ctx, tableRecords)
	if err != nil {
		return to, err
	}
	defer func() { err = errors.Join(err, release(context.WithoutCancel(ctx))) }()
	young, err := p.store.youngParts(ctx, part)
	if err != nil {
		return to, err
	}
	shortest := len(young) // all of them must go
	if part == "" {
		shortest = 1
	}
	drop, to, err := p.soundWithout(ctx, young, shortest)
	if err != nil {
		return to, err
	}
	for _, old := range drop { // the youngest first, so each step leaves an earlier state
		if err := p.cfg.ClickHouse.Exec(ctx, "ALTER TABLE records DROP PART '"+old.name+"'"); err != nil {
			return to, fmt.Errorf("drop the part %s of the records: %w", old.name, err)
		}
	}
	return to, nil
}

// soundWithout finds the fewest parts to drop, at least shortest, so that the rest
// of the table is what its checkpoint says and the log has all facts after it.
func (p *Projector) soundWithout(ctx context.Context, young []youngPart, shortest int) (drop []youngPart, to Checkpoint, err error) {
	log, err := eventlog.Inspect(ctx, p.cfg.Log)
	if err != nil {
		return nil, to, err
	}
	var names []string
	rows := uint64(0)
	for i, old := range young {
		names, rows = append(names, old.name), rows+old.rows
		if rows > RewindRows {
			break
		}
		if i+1 < shortest {
			continue
		}
		to, have, err := p.store.Count(ctx, CountOptions{Without: names})
		if err != nil || to.Row == 0 || !to.Totals.Known || to.Totals != have {
			continue // more parts must go
		}
		if log.Created.UnixNano() != to.Log || log.First > max(to.WindowFrom, 1) || to.Sequence > log.Last {
			return nil, to, fmt.Errorf("the log holds %d to %d, and %d on is needed: %w", log.First, log.Last, max(to.WindowFrom, 1), ErrCannotRewind)
		}
		return young[:i+1], to, nil
	}
	return nil, to, fmt.Errorf("without the youngest %d parts of %d rows the rest is not what its checkpoint says: %w", len(names), rows, ErrCannotRewind)
}

// youngPart is an active part of the records.
type youngPart struct {
	name string
	rows uint64
}

// youngParts returns the active parts of the records from the named one on, the
// youngest first. It returns none when there is no such part, and all for "".
func (s *Store) youngParts(ctx context.Context, from string) (young []youngPart, err error) {
	err = s.each(ctx, "look for the youngest parts of the records", func(rows driver.Rows) error {
		var p youngPart
		err := rows.Scan(&p.name, &p.rows)
		young = append(young, p)
		return err
	}, sqlYoungParts, clickhouse.Named("part", from))
	return young, err
}
