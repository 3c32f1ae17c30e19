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
	// smallTable is how many rows can be written again within ten seconds. A
	// larger table is taken back and folded again instead, where that is enough.
	smallTable = 500_000
	// mendLimit bounds writing a table again: minutes for ten million records.
	mendLimit = 6 * time.Hour
	// mendRest is the pause after a mend that failed, doubled each time up to
	// mendRestMost.
	mendRest, mendRestMost = 10 * time.Second, time.Hour
)

// mend mends the damage, the rows first. It returns whether there is something
// to look at again.
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
			c.tried["mend"]++
			pause := min(mendRest<<min(c.tried["mend"]-1, 10), mendRestMost)
			if errors.Is(err, errUndecided) {
				pause = mendRest // it ends with somebody's word
			}
			c.rest = c.cfg.Now().Add(pause)
			c.metrics.mends.WithLabelValues("failed").Inc()
			c.cfg.Logger.Error("what is damaged could not be mended, trying again", "damage", r.Damage[0].String(), "error", err, "after", pause)
			c.cannot(err)
			return did
		}
		if did {
			c.tried["mend"], c.lost, c.withheld = 0, false, false
			c.metrics.mends.WithLabelValues("done").Inc()
			c.cfg.Logger.Warn("mended what was damaged", "damage", r.Damage[0].String(), "of", len(r.Damage))
			c.mended(r.Damage[0].String())
			return true
		}
	}
	return false
}

// cannot remembers why the damage stays.
func (c *Checker) cannot(err error) {
	c.withheld = errors.Is(err, errUndecided)
	if errors.Is(err, projector.ErrNoHistory) {
		c.lost = true
	}
}

var errUndecided = errors.New("the log lacks facts and nobody has decided about them, so the records are not made anew by themselves")

// mendRows makes rows again that cannot be read, or are not there.
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

// rewind takes the records back to before the part, or to the latest moment at
// which all was well.
func (c *Checker) rewind(ctx context.Context, r Result, part string) (done bool, err error) {
	if !c.cfg.Sole || c.cfg.Undecided() != nil {
		return false, nil
	}
	c.report(r, "The records are taken back to before the damage and folded again from the log.")
	to, err := c.cfg.Projector.Rewind(ctx, part)
	switch {
	case errors.Is(err, projector.ErrCannotRewind):
		c.cfg.Logger.Info("the records are not taken back", "part", part, "reason", err)
		return false, nil
	case err != nil:
		return false, err
	}
	c.cfg.Logger.Warn("took the records back to before the damage; what came since is folded again", "part", part, "to", to.Sequence)
	return true, nil
}

// remake makes all tables again from the log, beside the live ones.
func (c *Checker) remake(ctx context.Context, r Result) error {
	if why := c.cfg.Undecided(); why != nil {
		return fmt.Errorf("%w: %w", errUndecided, why)
	}
	c.report(r, "The records are being made again from the log, beside these.")
	err := c.cfg.Rebuild(ctx, func(done, target uint64) {
		c.report(r, fmt.Sprintf("The records are being made again from the log, beside these: fact %d of %d.", done, target))
	})
	if first := r.Damage[0]; errors.Is(err, projector.ErrNoHistory) && first.Kind == KindLost {
		// What stood before the log's beginning is nowhere: better the rest than
		// nothing.
		c.lostBefore = first.First
		c.cfg.Projector.AcceptLoss()
	}
	if why := c.cfg.Undecided(); err != nil && why != nil { // met on the way
		return fmt.Errorf("%w: %w", errUndecided, why)
	}
	if err != nil {
		return fmt.Errorf("make the records again from the log: %w", err)
	}
	c.cfg.Logger.Warn("made the records again from the log")
	return nil
}

// mendBeside builds broken projections and indexes again.
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
		c.report(r, "It is being built again from the rows; lists read those alone meanwhile.")
		if err := c.write(ctx, table, damage); err != nil {
			return did, err
		}
		c.cfg.Logger.Warn("built again what stood beside the rows", "table", table, "parts", len(damage))
	}
	return did, nil
}

// rewindYoung takes a large table back to before the damage, if that was written
// in the last minutes: to write all of it again would take minutes too.
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

// write has ClickHouse write what is damaged again. A merge passes over parts
// with broken projections, so those come first.
func (c *Checker) write(ctx context.Context, table string, damage []Damage) error {
	// Whatever is written again is written by a merge or a mutation, which wait
	// for ever where somebody has stopped them.
	if err := c.exec(ctx, "SYSTEM START MERGES "+table, nil); err != nil {
		return fmt.Errorf("start the merges of %s: %w", table, err)
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
		if d.Part == "" || c.tried["mend"] > 0 {
			// Not known to ClickHouse to be broken, or the gentle way did not help.
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

// quoteName makes a name part of a statement: names cannot be bound.
func quoteName(name string) string { return "`" + name + "`" }

// hint is what a person is to do.
func (c *Checker) hint(damage []Damage) string {
	switch {
	case slices.ContainsFunc(damage, func(d Damage) bool { return !d.remade() && !d.beside() }):
		return "This table is not made of the log: restore it from a backup, or drop the part with ALTER TABLE … DROP PART to go on without its rows."
	case c.withheld:
		return "The log lacks facts that the records may still have: errata log accept, or errata log repair, comes first. Then it is mended without a hand."
	case c.lost && slices.ContainsFunc(damage, func(d Damage) bool { return !d.beside() }):
		return "The log does not reach back and there is no snapshot of what stood before it: restore the data folder from a backup. Events are taken and counted meanwhile."
	case c.tried["mend"] > 0:
		return "Mending it failed and is tried again; see the log of this service. errata replay --force makes all records again from the log."
	default:
		return "Nothing: it is being mended without a hand, and lists are read from the rows that are whole."
	}
}
