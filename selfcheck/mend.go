package selfcheck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/errata-log/errata/projector"
)

const (
	// smallTable is how many rows ClickHouse writes again within ten seconds. A
	// larger table is taken back and folded again where that is possible.
	smallTable = 500_000
	// mendLimit bounds writing a table again: minutes for ten million records.
	mendLimit = 6 * time.Hour
	// mendRest is the pause after a mend that failed, doubled each time up to
	// mendRestMost.
	mendRest, mendRestMost = 10 * time.Second, time.Hour
)

// mend mends the damage, rows first. tried says that the tables may have changed,
// so that the caller looks again.
func (c *Checker) mend(ctx context.Context, r Result) (tried bool) {
	if c.cfg.Now().Before(c.rest) {
		return false
	}
	steps := []func(context.Context, Result) (bool, error){c.mendRows, c.mendBeside}
	for _, step := range steps {
		did, err := step(ctx, r)
		if ctx.Err() != nil {
			return false
		}
		if err != nil {
			c.failed++
			pause := min(mendRest<<min(c.failed-1, 10), mendRestMost)
			if errors.Is(err, errUndecided) || errors.Is(err, errUntaken) {
				pause = mendRest // the operator may decide, or the other node come back, at any moment
			}
			c.rest = c.cfg.Now().Add(pause)
			c.metrics.mends.WithLabelValues("failed").Inc()
			c.cfg.Logger.Error("could not mend the damage, trying again", "damage", r.Damage[0].String(), "error", err, "after", pause)
			c.cannot(err)
			return did
		}
		if did {
			c.failed, c.lost, c.withheld, c.untaken = 0, false, false, nil
			c.metrics.mends.WithLabelValues("done").Inc()
			c.cfg.Logger.Warn("mended the damage", "damage", r.Damage[0].String(), "of", len(r.Damage))
			c.mended(r.Damage[0].String())
			return true
		}
	}
	return false
}

// cannot remembers why the damage stays, for the hint of the alarm.
func (c *Checker) cannot(err error) {
	c.withheld, c.untaken = errors.Is(err, errUndecided), nil
	if errors.Is(err, errUntaken) {
		c.untaken = err
		return
	}
	c.lost = c.lost || errors.Is(err, projector.ErrNoHistory)
}

var errUndecided = errors.New("the log lacks facts and nobody has decided about them, so the records are not made again")

// mendRows makes rows again that cannot be read or are missing: it takes the
// records back if that is enough, and otherwise makes all tables again.
func (c *Checker) mendRows(ctx context.Context, r Result) (did bool, err error) {
	var oldest string
	damaged, remake := false, false
	for _, d := range r.Damage { // the youngest part first
		switch {
		case d.beside() || !d.remade():
		case d.Kind == KindRows && d.Table == tableRecords:
			damaged, oldest = true, d.Part
		case d.Kind == KindDiffer:
			damaged = true
		default:
			remake = true
		}
	}
	if !remake && !damaged {
		return false, nil
	}
	if !remake {
		if done, err := c.rewind(ctx, r, oldest); done || err != nil {
			return done, err
		}
	}
	err = c.remake(ctx, r)
	return !errors.Is(err, errUndecided), err
}

// rewind takes the records back to the checkpoint before the part, or for "" to
// the latest one with whose totals they agree. done is false if that cannot be.
func (c *Checker) rewind(ctx context.Context, r Result, part string) (done bool, err error) {
	if !c.cfg.Sole || c.cfg.Undecided() != nil {
		return false, nil //nolint:nilerr // remake, which is next, says what waits for a decision
	}
	c.report(r, "The records are taken back to before the damage and folded again from the log.")
	to, err := c.cfg.Projector.Rewind(ctx, part)
	switch {
	case errors.Is(err, projector.ErrCannotRewind):
		c.cfg.Logger.Info("the records cannot be taken back", "part", part, "reason", err)
		return false, nil
	case err != nil:
		return false, err
	}
	c.cfg.Logger.Warn("took the records back to before the damage; the later facts are folded again", "part", part, "to", to.Sequence)
	return true, nil
}

// errUntaken says that this node lacks records which other nodes have, and could not take them.
var errUntaken = errors.New("this node lacks records of facts that were purged from the log, and could not take those of another node")

// take puts the tables of another node in the place of these.
func (c *Checker) take(ctx context.Context, r Result) error {
	c.report(r, "Do nothing: this node takes the records of another one; the check of the node says how far that is. Meanwhile events are taken, and the other nodes show all records.")
	if err := c.cfg.Take(ctx); err != nil {
		return fmt.Errorf("%w: %w", errUntaken, err)
	}
	return nil
}

// remake makes all tables again from the log beside the live ones, and puts them
// in their place.
func (c *Checker) remake(ctx context.Context, r Result) error {
	if why := c.cfg.Undecided(); why != nil {
		return fmt.Errorf("%w: %w", errUndecided, why)
	}
	c.report(r, "The records are being made again from the log, beside these.")
	err := c.cfg.Rebuild(ctx, func(done, target uint64) {
		c.report(r, fmt.Sprintf("The records are being made again from the log, beside these: fact %d of %d.", done, target))
	})
	first := r.Damage[0]
	switch unmade := errors.Is(err, projector.ErrNoHistory); {
	case unmade && c.cfg.Take != nil:
		return c.take(ctx, r)
	case unmade && first.Kind == KindLost:
		// No copy of the older records exists: go on with those that the log holds.
		c.lostBefore = first.First
		c.cfg.Projector.AcceptLoss()
	}
	if why := c.cfg.Undecided(); err != nil && why != nil { // the rebuild has met a gap
		return fmt.Errorf("%w: %w", errUndecided, why)
	}
	if err != nil {
		return fmt.Errorf("make the records again from the log: %w", err)
	}
	c.cfg.Logger.Warn("made the records again from the log")
	return nil
}

// mendBeside builds broken ClickHouse projections and indexes again.
func (c *Checker) mendBeside(ctx context.Context, r Result) (did bool, err error) {
	byTable := map[string][]Damage{}
	for _, d := range r.Damage {
		if d.beside() {
			byTable[d.Table] = append(byTable[d.Table], d)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, mendLimit)
	defer cancel()
	for table, damage := range byTable {
		did = true
		if done, err := c.rewindYoung(ctx, r, table, damage); done || err != nil {
			if err != nil {
				return did, err
			}
			continue
		}
		c.report(r, "It is being built again from the rows. Meanwhile lists read the rows alone.")
		if err := c.write(ctx, table, damage); err != nil {
			return did, err
		}
		c.cfg.Logger.Warn("built projections or indexes again from the rows", "table", table, "parts", len(damage))
	}
	return did, nil
}

// rewindYoung takes a large records table back to before the damaged parts, because
// writing all of it again takes minutes. This works only for young parts.
func (c *Checker) rewindYoung(ctx context.Context, r Result, table string, damage []Damage) (done bool, err error) {
	all, _, err := c.parts(ctx)
	if err != nil {
		return false, err
	}
	rows := uint64(0)
	for _, p := range all {
		if p.table == table {
			rows += p.rows
		}
	}
	if table != tableRecords || rows <= smallTable || slices.ContainsFunc(damage, func(d Damage) bool { return d.Part == "" }) {
		return false, nil
	}
	return c.rewind(ctx, r, damage[len(damage)-1].Part)
}

// write has ClickHouse write the damaged files again. Broken ClickHouse projections
// come first, because a merge leaves out parts that have one.
func (c *Checker) write(ctx context.Context, table string, damage []Damage) error {
	// Merges and mutations write the files. They wait for ever while merges are
	// stopped, also by an operator.
	if table == tableRecords {
		if err := c.cfg.First.end(ctx); err != nil {
			return err
		}
	}
	if err := c.merges().Tell(ctx, table); err != nil {
		return err
	}
	var projections []string
	indexes := false
	for _, d := range damage {
		for _, name := range d.Projections {
			if !slices.Contains(projections, name) {
				projections = append(projections, name)
			}
		}
		indexes = indexes || d.Kind == KindIndex
		if d.Part == "" || c.failed > 0 {
			// ClickHouse does not know that it is broken, or building it again failed:
			// drop it first.
			indexes = true
			for _, name := range d.Projections {
				if err := c.exec(ctx, "ALTER TABLE "+table+" CLEAR PROJECTION "+quoteName(name)+" IN PARTITION tuple()", clickhouse.Settings{"mutations_sync": 1}); err != nil {
					return fmt.Errorf("drop the projection %s of %s: %w", name, table, err)
				}
			}
		}
	}
	for _, name := range projections {
		if err := c.exec(ctx, "ALTER TABLE "+table+" MATERIALIZE PROJECTION "+quoteName(name), clickhouse.Settings{"mutations_sync": 1}); err != nil {
			return fmt.Errorf("build the projection %s of %s again: %w", name, table, err)
		}
	}
	if !indexes {
		return nil
	}
	if err := c.exec(ctx, "OPTIMIZE TABLE "+table+" FINAL", clickhouse.Settings{"optimize_throw_if_noop": 1}); err != nil {
		return fmt.Errorf("write the table %s again: %w", table, err)
	}
	return nil
}

func (c *Checker) exec(ctx context.Context, statement string, settings clickhouse.Settings) error {
	return c.cfg.ClickHouse.Exec(clickhouse.Context(ctx, clickhouse.WithSettings(settings)), statement)
}

// quoteName quotes a name for a statement: ClickHouse cannot bind names.
func quoteName(name string) string { return "`" + name + "`" }

// hint says what the operator must do.
func (c *Checker) hint(damage []Damage) string {
	switch {
	case slices.ContainsFunc(damage, func(d Damage) bool { return !d.remade() && !d.beside() }):
		return "This table is not made from the log: restore it from a backup, or drop the part with ALTER TABLE … DROP PART to go on without its rows."
	case c.withheld:
		return "The log lacks facts that the records may still have: run errata log accept or errata log repair first. Then the damage is mended automatically."
	case c.untaken != nil:
		return fmt.Sprintf("It is tried again every %v (%v). By hand: stop this node, make a backup of another one (errata backup FOLDER there), and take its records into an empty data folder (errata restore FOLDER --records here).", mendRest, c.untaken)
	case c.lost && slices.ContainsFunc(damage, func(d Damage) bool { return !d.beside() }):
		return "The log does not reach back far enough, and there is no snapshot of the records before it: restore the data folder from a backup. Meanwhile events are taken and counted."
	case c.failed > 0:
		return "Mending it failed and is tried again; the log of this service says why. errata replay --force makes all records again from the log."
	default:
		return "Do nothing: the damage is being mended automatically. Meanwhile lists read the rows that are whole."
	}
}
