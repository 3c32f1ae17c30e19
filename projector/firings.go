package projector

import (
	"context"
	_ "embed"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
)

var (
	//go:embed sql/insert_firings.sql
	sqlInsertFirings string
	//go:embed sql/fired.sql
	sqlFired string
	//go:embed sql/fire_windows.sql
	sqlFireWindows string
)

// tableFirings has the firings. It is no rollup that a replay compares: a replay decides
// nothing.
const tableFirings = "firings"

// firingsOf collects what a batch adds to firings behind the fact done, up to which the
// table has them already; the first row is that of the checkpoint.
func firingsOf(fired []alerts.Firing, key errata.Signature, done, to uint64) *rollupBatch {
	b := &rollupBatch{table: tableFirings, insert: sqlInsertFirings}
	var fresh []alerts.Firing
	for _, f := range fired {
		if f.Position >= errata.PositionOf(done+1, 0) {
			fresh = append(fresh, f)
		}
	}
	if len(fresh) == 0 {
		return b
	}
	b.rows = len(fresh) + 1
	b.fill = func(batch driver.Batch) error {
		if err := batch.Append(checkpointBook, string(key[:]), uint64(0), uint64(0), "", "", time.UnixMilli(0), uint64(0), uint64(0), "", "", "",
			uint64(len(fresh)), to, uint64(0), uint64(0), uint64(0)); err != nil {
			return err
		}
		for i := range fresh {
			f := &fresh[i]
			if err := batch.Append(f.Record.Book.String(), string(f.Record.Signature[:]), uint64(f.ID), uint64(f.Position), f.Rule, string(f.Cause),
				time.UnixMilli(f.Clock), f.Project, f.Count, f.Environment, f.Release, f.Level.String(), uint64(1), uint64(0), f.Events, f.Usual, f.Minutes); err != nil {
				return err
			}
		}
		return nil
	}
	return b
}

// watch begins to show the records of a batch to the rules in force, nil when there are none.
// The decider begins anew with other rules.
func (c *committer) watch(b *batch) *watching {
	if b.rules != c.rules {
		c.rules, c.watching, c.remembers = b.rules, nil, false
		if b.rules != nil {
			c.watching = &watching{decider: alerts.NewDecider(b.rules.set)}
		}
	}
	if c.watching != nil {
		c.watching.begin(len(b.occurred.parts))
	}
	return c.watching
}

// decide decides which events of the batch fire the rules that watch. What these must
// remember is in the tables.
func (c *committer) decide(ctx context.Context, b *batch) (d decided, err error) {
	if !c.remembers {
		if err := c.remember(ctx, b.clockBefore); err != nil {
			return d, err
		}
		c.remembers = true
	}
	for _, rule := range c.watching.decider.Counting() {
		// Tell the decider of the earlier events of records that have enough events with this batch.
		if of := c.watching.begins[rule.ID]; len(of) > 0 {
			if err := c.rememberWindow(ctx, rule, b.clockBefore, (sweep{}).chunk(0, 1), of); err != nil {
				return d, err
			}
		}
	}
	d, c.written = c.written, decided{}
	d.fired = b.firings(c.watching)
	d.counted = append(d.counted, c.watching.decider.Counted()...)
	return d, nil
}

// remember tells the decider what was before the batch that is committed next.
func (c *committer) remember(ctx context.Context, clock int64) error {
	err := c.p.store.each(ctx, "read what has fired", func(rows driver.Rows) error {
		var f alerts.Firing
		var cause string
		var id, position uint64
		if err := rows.Scan(&f.Rule, &cause, &id, &f.Project, &f.Clock, &position); err != nil {
			return err
		}
		f.Cause, f.ID, f.Position = alerts.Cause(cause), errata.Position(id), errata.Position(position)
		c.watching.decider.RememberFiring(f)
		return nil
	}, sqlFired, c.behindCheckpoint(), clickhouse.Named("counted", uint64(c.behindCounted())),
		clickhouse.Named("since", clock-alerts.Memory*millisPerMinute), clickhouse.Named("quiet_since", quietSince(clock)*millisPerMinute))
	if err != nil {
		return err
	}
	for _, rule := range c.watching.decider.Counting() {
		for _, within := range rangesOf(c.totals.records(), recordsTogether) {
			if err := c.rememberWindow(ctx, rule, clock, within, nil); err != nil {
				return err
			}
		}
	}
	return c.rememberActivity(ctx, clock)
}

// counted is what one row of fire_windows.sql says.
type counted struct {
	key    recordKey
	id     errata.Position
	minute int64
	events uint64
	users  []uint64
}

// rememberWindow tells the decider what the rule has counted of the records; nil is for all
// within a range of signatures that have enough events. What it reads is before the batch that
// is committed next.
func (c *committer) rememberWindow(ctx context.Context, rule alerts.Rule, clock int64, within *sweepChunk, of map[recordKey]*errata.Record) error {
	signatures := []string{}
	for key := range of {
		signatures = append(signatures, key.signature.String())
	}
	var all []counted
	err := c.p.store.each(ctx, "read the events that a rule of alerts counts", func(rows driver.Rows) error {
		var book, signature string
		var id uint64
		var one counted
		if err := rows.Scan(&book, &signature, &id, &one.minute, &one.events, &one.users); err != nil {
			return err
		}
		one.id = errata.Position(id)
		one.key.book, _ = errata.ParseBook(book)
		copy(one.key.signature[:], signature)
		all = append(all, one)
		return nil
	}, sqlFireWindows, slices.Concat(aboutEvents(&rule), within.rangeArgs(), []any{
		c.behindCheckpoint(), clickhouse.Named("rule", rule.ID), clickhouse.Named("since", alerts.WindowFrom(rule, clock)),
		clickhouse.Named("users", rule.When.Frequency.Users > 0), clickhouse.Named("most", alerts.MaxUsers), clickhouse.Named("signatures", signatures),
		clickhouse.Named("all", of == nil), clickhouse.Named("least", rule.When.Frequency.Least()),
	})...)
	if err != nil || len(all) == 0 {
		return err
	}
	if of == nil {
		if of, err = c.recordsOf(ctx, all); err != nil {
			return err
		}
	}
	for i := range all {
		// An older record of the signature is gone, and its events are not counted again.
		if r := of[all[i].key]; r != nil && r.ID == all[i].id && r.Count >= rule.When.Frequency.Least() {
			c.watching.decider.Remember(rule.ID, r, all[i].minute, all[i].events, all[i].users)
		}
	}
	return nil
}

// behindCheckpoint is the position behind all that the tables must have.
func (c *committer) behindCheckpoint() any {
	return clickhouse.Named("until", uint64(errata.PositionOf(c.cp.Sequence+1, 0)))
}

// recordsOf finds the records as they are at the checkpoint.
func (c *committer) recordsOf(ctx context.Context, all []counted) (map[recordKey]*errata.Record, error) {
	keys := map[recordKey]struct{}{}
	for i := range all {
		keys[all[i].key] = struct{}{}
	}
	return c.currentRecords(ctx, slices.Collect(maps.Keys(keys)))
}

// aboutEvents are the parameters that say which events a rule is about.
func aboutEvents(rule *alerts.Rule) []any {
	return []any{
		clickhouse.Named("books", orEmpty(rule.Books)), clickhouse.Named("projects", orEmpty(rule.Projects)),
		clickhouse.Named("environments", orEmpty(rule.Environments)), clickhouse.Named("levels", orEmpty(rule.Levels)),
	}
}

// orEmpty is the list, which a parameter needs even when it is empty.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
