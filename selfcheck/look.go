package selfcheck

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/query"
)

// look compares log and tables once, without mending anything.
func (c *Checker) look(ctx context.Context) (r Result) {
	r.At = c.cfg.Now()
	suspected := c.doubt.Load() && len(c.Last().Damage) == 0
	defer func() {
		r.Took = c.cfg.Now().Sub(r.At)
		c.metrics.looked(r)
	}()
	if r.Err = c.recordsLost(ctx, &r); r.Err != nil || len(r.Damage) > 0 {
		return r
	}
	if r.Err = c.count(ctx, &r); r.Err != nil {
		return r
	}
	if r.Err = c.readParts(ctx, &r, suspected || c.full); r.Err != nil {
		return r
	}
	c.full = false
	if len(r.Damage) == 0 {
		r.Err = c.countEvents(ctx)
	}
	return r
}

// recordsLost adds [KindLost] when the checkpoint of the tables is older than the
// first fact of the log: the projector cannot go on from there.
func (c *Checker) recordsLost(ctx context.Context, r *Result) error {
	cp, err := c.cfg.Projector.Store().Checkpoint(ctx)
	if err != nil {
		return ignoreDamage(err)
	}
	log, err := eventlog.Inspect(ctx, c.cfg.Log)
	if err != nil {
		return err
	}
	if log.First <= 1 || cp.Sequence+1 >= log.First || c.lostBefore > 0 && cp.Row == 0 {
		return nil
	}
	r.Damage = append(r.Damage, Damage{Kind: KindLost, Table: tableRecords, First: log.First, What: fmt.Sprintf(
		"the table stands at fact %d, and the log begins at %d: it lacks the facts between", cp.Sequence, log.First)})
	return nil
}

// ignoreDamage returns nil for an error of damage: reading the parts finds where
// it is.
func ignoreDamage(err error) error {
	if query.IsDamage(err) {
		return nil
	}
	return err
}

// count compares the records with the totals of their checkpoint, and the events
// of the rollups with those that were counted.
func (c *Checker) count(ctx context.Context, r *Result) error {
	store := c.cfg.Projector.Store()
	cp, have, err := store.Count(ctx, projector.CountOptions{Primary: c.doubt.Load()})
	if query.IsDamage(err) {
		c.full = true
		return nil // reading all parts finds the damaged one
	}
	if err != nil {
		return err
	}
	for _, table := range projector.Rollups {
		holds, err := store.RollupCounted(ctx, table)
		if ignoreDamage(err) != nil {
			return err
		}
		if must := cp.InRollup(table); err == nil && holds < must {
			r.Damage = append(r.Damage, Damage{Kind: KindMissing, Table: table, What: fmt.Sprintf("its parts hold %d events of %d that were counted", holds, must)})
		}
	}
	r.Records = cp.Totals.System.Records + cp.Totals.Database.Records
	r.Events = cp.Totals.System.Count + cp.Totals.Database.Count
	if !cp.Totals.Known || cp.Totals.Difference(have) == "" {
		return nil
	}
	// Are the rows wrong, or only the sums of the ClickHouse projection?
	cp, have, err = store.Count(ctx, projector.CountOptions{Primary: true})
	if query.IsDamage(err) {
		c.full = true
		return nil
	}
	if err != nil {
		return err
	}
	if difference := cp.Totals.Difference(have); difference != "" {
		r.Damage = append(r.Damage, Damage{Kind: KindDiffer, Table: tableRecords, What: difference})
		return nil
	}
	r.Damage = append(r.Damage, Damage{Kind: KindProjection, Table: tableRecords, Projections: []string{"by_time"}, What: "its sums are not those of the rows"})
	return nil
}

// readParts reads the parts whose turn it is, or everything: first those that were
// written after the mark's time, then others as far as the bytes of a look go.
func (c *Checker) readParts(ctx context.Context, r *Result, everything bool) error {
	all, tables, err := c.parts(ctx)
	if err != nil {
		return err
	}
	if r.Damage, err = c.gone(ctx, r.Damage, all, tables); err != nil {
		return err
	}
	c.forget(all)
	due := c.due(all, everything)
	r.Of = len(all)
	for _, p := range due {
		damage, err := c.checkPart(ctx, p)
		if err != nil {
			return err
		}
		r.Parts, r.Bytes = r.Parts+1, r.Bytes+p.bytes
		if c.broken[p.id()] = damage != nil; damage != nil {
			r.Damage = append(r.Damage, *damage)
			continue
		}
		c.seen[p.id()] = r.At
	}
	if len(r.Damage) > 0 {
		return nil // the mark stays as it is until this is mended
	}
	c.mark.note(all)
	c.round(all)
	return c.mark.write(c.cfg.Mark)
}

// gone adds the missing parts, unless other parts have their rows.
func (c *Checker) gone(ctx context.Context, damage []Damage, all []part, tables map[string]string) ([]Damage, error) {
	held, err := c.held(ctx, all)
	if err != nil {
		return nil, err
	}
	lost := c.mark.missing(held, tables)
	aside, err := c.setAside(ctx)
	if err != nil {
		return nil, err
	}
	c.tellAside(aside, held)
	for _, p := range aside {
		if followed(p.table) && !p.blocks.heldBy(held[p.table]) && !slices.ContainsFunc(lost, func(q part) bool {
			return q.table == p.table && p.blocks.heldBy([]blocks{q.blocks})
		}) {
			lost = append(lost, p)
		}
	}
	for _, p := range lost {
		damage = append(damage, Damage{Kind: KindMissing, Table: p.table, Part: p.name, What: "its folder is not there, or ClickHouse could not load it"})
	}
	return damage, nil
}

// forget drops what the checker remembers of parts that do not exist any more.
func (c *Checker) forget(all []part) {
	there := make(map[string]bool, len(all))
	for _, p := range all {
		there[p.id()] = true
	}
	maps.DeleteFunc(c.seen, func(id string, _ time.Time) bool { return !there[id] })
	maps.DeleteFunc(c.broken, func(id string, broken bool) bool { return !broken || !there[id] })
}

// due returns the parts to read now. Those that must be read come first, the
// youngest first: unread parts younger than the mark, and broken ones. The others
// follow, the part that was read longest ago first, as far as c.saved goes.
func (c *Checker) due(all []part, everything bool) (due []part) {
	var rest []part
	largest := uint64(0)
	for _, p := range all {
		_, seen := c.seen[p.id()]
		if !seen && p.modified.After(c.mark.Sound) || everything || c.broken[p.id()] {
			due = append(due, p)
			continue
		}
		rest, largest = append(rest, p), max(largest, p.bytes)
	}
	slices.SortStableFunc(rest, func(a, b part) int { return c.seen[a.id()].Compare(c.seen[b.id()]) })
	c.saved = min(c.saved+lookBytes, max(lookBytes, largest))
	for _, p := range rest {
		if p.bytes > c.saved {
			break
		}
		c.saved -= p.bytes
		due = append(due, p)
	}
	return due
}

// round moves the mark to the time at which the oldest of the checks of all parts
// was made, less the time that the kernel may take to write.
func (c *Checker) round(all []part) {
	oldest := c.cfg.Now()
	for _, p := range all {
		at, seen := c.seen[p.id()]
		if !seen {
			return
		}
		if at.Before(oldest) {
			oldest = at
		}
	}
	if sound := oldest.Add(-settled); sound.After(c.mark.Sound) {
		c.mark.Sound = sound
	}
}
