package projector

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/errata-log/errata/eventlog"
)

//go:embed sql/tables_of.sql
var sqlTablesOf string

// TakenSuffix is appended to the name of a database. The result is the database for tables
// that another node has made.
const TakenSuffix = "_taken"

// ErrNotAdopted says that the tables of another node are not used: they do not fit this log, or
// they are not whole.
var ErrNotAdopted = errors.New("the tables of the other node are not taken")

// Adopt puts tables that another node has made from the same log in the place of the live ones,
// and lets the projector go on from their checkpoint. made has selected their database, whose
// tables have the structure of the live ones; afterwards it has those that were live. Before
// anything changes, the records are compared with the totals of their checkpoint. The records
// are exchanged last: after a crash before that, the live checkpoint is the old one, and whoever
// has called Adopt does it again with all tables. Errors: ErrNotAdopted.
func (p *Projector) Adopt(ctx context.Context, made driver.Conn) (to Checkpoint, err error) {
	goOn, err := p.hold(ctx)
	if err != nil {
		return to, err
	}
	defer goOn()
	taken := NewStore(made, p.cfg.Shard)
	log, err := eventlog.Inspect(ctx, p.cfg.Log)
	if err != nil {
		return to, err
	}
	to, have, err := taken.Count(ctx, CountOptions{Primary: true})
	if err != nil {
		return to, err
	}
	if why := to.unfit(log, have); why != "" {
		return to, fmt.Errorf("%w: %s", ErrNotAdopted, why)
	}
	if err := taken.replace(ctx, p.store); err != nil {
		return to, err
	}
	if log.First <= 1 {
		return to, nil
	}
	// A rebuild begins with a snapshot once the log was purged.
	if err := p.store.takeSnapshot(ctx); err != nil {
		return to, fmt.Errorf("keep the tables for a rebuild: %w", err)
	}
	return to, nil
}

// unfit says why tables with this checkpoint are not those of the log, "" when they are. have is
// what they hold.
func (c Checkpoint) unfit(log eventlog.State, have Totals) string {
	switch {
	case c.Row == 0:
		return "they have no checkpoint"
	case c.Log != log.Created.UnixNano():
		return "they were made from another log"
	case c.Fold != FoldVersion:
		return fmt.Sprintf("they were made by version %d of the fold, and this is %d", c.Fold, FoldVersion)
	case c.Sequence > log.Last:
		return fmt.Sprintf("they stand at fact %d, and the log ends at %d", c.Sequence, log.Last)
	case c.Sequence+1 < log.First:
		return fmt.Sprintf("they stand at fact %d, and the log begins at %d", c.Sequence, log.First)
	case !c.Totals.Known:
		return "their checkpoint does not say what they hold"
	}
	return c.Totals.Difference(have)
}

// replace exchanges the tables of the store with those of another one, the records last.
func (s *Store) replace(ctx context.Context, live *Store) error {
	from, err := s.database(ctx)
	if err != nil {
		return err
	}
	to, err := live.database(ctx)
	if err != nil {
		return err
	}
	var statements []string
	if err := s.each(ctx, "list the tables", func(row driver.Rows) error {
		var name string
		err := row.Scan(&name)
		statements = append(statements, "EXCHANGE TABLES "+quoteName(to)+"."+quoteName(name)+" AND "+quoteName(from)+"."+quoteName(name))
		return err
	}, sqlTablesOf); err != nil {
		return err
	}
	return live.merges.exchange(ctx, s, func() error { return live.exec(ctx, statements...) })
}
