package projector

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/errata-log/errata/eventlog"
)

var (
	//go:embed sql/table_engine.sql
	sqlTableEngine string
	//go:embed sql/young_parts.sql
	sqlYoungParts string
)

// ErrCannotRewind says that the records cannot be taken back to where they were
// before the damaged part was written.
var ErrCannotRewind = errors.New("the records cannot be taken back to before the damage")

// hasCopies says whether another server may answer for the table than the one
// that took an insert.
func (s *Store) hasCopies(ctx context.Context) (bool, error) {
	var plain bool
	if err := s.conn.QueryRow(ctx, sqlTableEngine).Scan(&plain); err != nil {
		return false, fmt.Errorf("ask what kind of table the records are: %w", err)
	}
	return !plain, nil
}

// RewindRows is how many rows a rewind takes back at most: about two minutes of
// the heaviest load, folded again in seconds.
const RewindRows = 250_000

// Rewind takes the records back to the moment before the part was written, and
// has what came since folded again: parts hold the batches in their order, so
// that without the youngest of them the table is what it was at an earlier
// checkpoint. Nothing is taken away before that has been proved by that
// checkpoint's own totals. Nobody else may write the table meanwhile.
//
// ErrCannotRewind says that it does not hold, or that there would be more than
// [RewindRows] to fold again, or that the log does not reach back so far.
// Nothing has been changed then.
func (p *Projector) Rewind(ctx context.Context, part string) (to Checkpoint, err error) {
	running := p.running()
	if err := p.Stop(ctx); err != nil {
		return to, err
	}
	if running {
		defer p.Start()
	}
	// A merge could put the part into another one meanwhile.
	if err := p.cfg.ClickHouse.Exec(ctx, "SYSTEM STOP MERGES records"); err != nil {
		return to, fmt.Errorf("stop the merges of the records: %w", err)
	}
	defer func() {
		err = errors.Join(err, p.cfg.ClickHouse.Exec(context.WithoutCancel(ctx), "SYSTEM START MERGES records"))
	}()
	young, rows, err := p.store.youngParts(ctx, part)
	if err != nil {
		return to, err
	}
	if len(young) == 0 || rows > RewindRows {
		return to, fmt.Errorf("%d parts of %d rows would have to go: %w", len(young), rows, ErrCannotRewind)
	}
	to, have, err := p.store.Count(ctx, CountOptions{Without: young})
	if err != nil {
		return to, fmt.Errorf("%w: %w", ErrCannotRewind, err)
	}
	if to.Row == 0 || !to.Totals.Known || to.Totals != have {
		return to, fmt.Errorf("what would be left is not what its checkpoint says: %w", ErrCannotRewind)
	}
	log, err := eventlog.Inspect(ctx, p.cfg.Log)
	if err != nil {
		return to, err
	}
	if log.Created.UnixNano() != to.Log || log.First > max(to.WindowFrom, 1) || to.Sequence > log.Last {
		return to, fmt.Errorf("the log holds %d to %d, and %d on is needed: %w", log.First, log.Last, max(to.WindowFrom, 1), ErrCannotRewind)
	}
	for _, name := range young { // the youngest first: each step leaves an earlier state
		if err := p.cfg.ClickHouse.Exec(ctx, "ALTER TABLE records DROP PART '"+name+"'"); err != nil {
			return to, fmt.Errorf("drop the part %s of the records: %w", name, err)
		}
	}
	return to, nil
}

// youngParts are the active parts of the records from the named one on, the
// youngest first, and their rows; none if there is no such part.
func (s *Store) youngParts(ctx context.Context, from string) (names []string, rows uint64, err error) {
	all, err := s.conn.Query(ctx, sqlYoungParts, clickhouse.Named("part", from))
	if err != nil {
		return nil, 0, fmt.Errorf("look for the youngest parts of the records: %w", err)
	}
	defer all.Close()
	for all.Next() {
		var name string
		var n uint64
		if err := all.Scan(&name, &n); err != nil {
			return nil, 0, fmt.Errorf("look for the youngest parts of the records: %w", err)
		}
		names, rows = append(names, name), rows+n
	}
	return names, rows, all.Err()
}
