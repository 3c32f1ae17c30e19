package projector

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
)

var (
	//go:embed sql/insert_activity.sql
	sqlInsertActivity string
	//go:embed sql/activity.sql
	sqlActivity string
	//go:embed sql/activity_begun.sql
	sqlActivityBegun string
	//go:embed sql/activity_before.sql
	sqlActivityBefore string
)

// tableActivity has what rules of alerts have counted of projects. It is written behind
// firings: what is counted has fired what it fires. Like them, it is no rollup that a replay
// compares.
const tableActivity = "activity"

// Books of activity beside the checkpoint; the others are causes.
const bookBegun = "begun"

// minutesPerDay are in one row of a quiet time, which says when the last event came.
const minutesPerDay = 24 * 60

// decided is what rules of alerts make of a batch.
type decided struct {
	fired []alerts.Firing
	// counted are the events of projects; those of the past are among them when a counting
	// has begun.
	counted []alerts.Counted
	begun   []string
}

// activityOf collects what a batch adds to activity; the first row is that of the
// checkpoint.
func activityOf(d *decided, key errata.Signature, to uint64) *rollupBatch {
	b := &rollupBatch{table: tableActivity, insert: sqlInsertActivity}
	if len(d.counted)+len(d.begun) == 0 {
		return b
	}
	b.rows = len(d.counted) + len(d.begun) + 1
	b.fill = func(batch driver.Batch) error {
		if err := batch.Append(checkpointBook, string(key[:]), "", uint64(0), uint32(0), uint64(b.rows-1), uint32(0), uint64(0), to); err != nil {
			return err
		}
		none := string(make([]byte, len(key)))
		for _, counting := range d.begun {
			if err := batch.Append(bookBegun, none, counting, uint64(0), uint32(0), uint64(1), uint32(0), uint64(0), uint64(0)); err != nil {
				return err
			}
		}
		for i := range d.counted {
			c := &d.counted[i]
			minute, seen := c.Minute, int64(0)
			if c.Cause == alerts.CauseQuiet {
				minute, seen = c.Minute-c.Minute%minutesPerDay, c.Minute
			}
			if err := batch.Append(string(c.Cause), none, c.Counting, c.Project, uint32(minute), c.Events, uint32(seen), uint64(c.Last), uint64(0)); err != nil {
				return err
			}
		}
		return nil
	}
	return b
}

// behindCounted is the position behind all that is counted of projects.
func (c *committer) behindCounted() errata.Position {
	return errata.PositionOf(max(c.cp.Sequence, c.rolled.activity)+1, 0)
}

// rememberActivity tells the decider what its rules have counted of projects up to the batch
// that is committed next. What a rule that begins to count would have counted is written with
// that batch.
func (c *committer) rememberActivity(ctx context.Context, clock int64) error {
	c.watching.decider.CountedBefore(errata.PositionOf(c.rolled.activity+1, 0))
	rules := c.watching.decider.Counters()
	if len(rules) == 0 {
		return nil
	}
	begun, err := c.begunCountings(ctx, rules)
	if err != nil {
		return err
	}
	c.written = decided{}
	for i := range rules {
		if rule := &rules[i]; !begun[rule.CountingID()] {
			if err := c.countBefore(ctx, rule, clock); err != nil {
				return err
			}
			c.written.begun = append(c.written.begun, rule.CountingID())
		}
	}
	for _, one := range c.written.counted {
		c.watching.decider.RememberCounted(one)
	}
	if err := c.readActivity(ctx, rules, clock); err != nil {
		return err
	}
	return c.stillThere(ctx)
}

// stillThere says whether the tables are those of the checkpoint: what another projector has
// counted must not be counted again. Errors: ErrRaceLost.
func (c *committer) stillThere(ctx context.Context) error {
	if err := c.awaitWriter(ctx); err != nil {
		return err
	}
	at, err := c.p.store.rollupCheckpoint(ctx, tableActivity)
	if err != nil {
		return err
	}
	cp, err := c.p.store.Checkpoint(ctx)
	if err == nil && (at != c.rolled.activity || cp.Row != c.cp.Row) {
		err = fmt.Errorf("%s is counted up to %d at checkpoint row %d, not %d at %d: %w", tableActivity, at, cp.Row, c.rolled.activity, c.cp.Row, ErrRaceLost)
	}
	return err
}

// countings are the names of what the rules count.
func countings(rules alerts.Set) (names []string) {
	for i := range rules {
		names = append(names, rules[i].CountingID())
	}
	return names
}

func (c *committer) begunCountings(ctx context.Context, rules alerts.Set) (map[string]bool, error) {
	begun := map[string]bool{}
	return begun, c.p.store.each(ctx, "read what rules of alerts count", func(rows driver.Rows) error {
		var counting string
		err := rows.Scan(&counting)
		begun[counting] = true
		return err
	}, sqlActivityBegun, clickhouse.Named("countings", countings(rules)))
}

// readActivity tells the decider what stands in the table.
func (c *committer) readActivity(ctx context.Context, rules alerts.Set, clock int64) error {
	since := clock
	for _, rule := range rules {
		if rule.When.Spike != nil {
			since = min(since, rule.When.Spike.CountedFrom(clock))
		}
	}
	return c.p.store.each(ctx, "read what rules of alerts have counted", func(rows driver.Rows) error {
		var (
			one          alerts.Counted
			book         string
			minute, seen uint32
			last         uint64
		)
		if err := rows.Scan(&one.Counting, &book, &one.Project, &minute, &one.Events, &seen, &last); err != nil {
			return err
		}
		one.Cause, one.Minute, one.Last = alerts.Cause(book), int64(max(minute, seen)), errata.Position(last)
		c.watching.decider.RememberCounted(one)
		return nil
	}, sqlActivity, clickhouse.Named("countings", countings(rules)), clickhouse.Named("since", since), clickhouse.Named("quiet_since", quietSince(clock)))
}

// quietSince is the first minute of the day from which on last events count.
func quietSince(clock int64) int64 {
	minute := clock/millisPerMinute - alerts.QuietMemory
	return minute - minute%minutesPerDay
}

// countBefore reads what a rule would have counted of the events in the tables.
func (c *committer) countBefore(ctx context.Context, rule *alerts.Rule, clock int64) error {
	if s := rule.When.Spike; s != nil {
		if err := c.countPast(ctx, rule, alerts.CauseSpike, int64(s.Minutes), s.CountedFrom(clock)); err != nil {
			return err
		}
	}
	if rule.When.Quiet != nil {
		return c.countPast(ctx, rule, alerts.CauseQuiet, minutesPerDay, quietSince(clock))
	}
	return nil
}

// countPast reads it by ranges of signatures, see recordsTogether.
func (c *committer) countPast(ctx context.Context, rule *alerts.Rule, cause alerts.Cause, minutes, since int64) error {
	past := map[pastPeriod]alerts.Counted{}
	for _, within := range rangesOf(c.totals.records(), recordsTogether) {
		err := c.p.store.each(ctx, "read what a rule of alerts counts of the past", func(rows driver.Rows) error {
			var (
				of           pastPeriod
				events, last uint64
				seen         int64
			)
			if err := rows.Scan(&of.project, &of.minute, &events, &seen, &last); err != nil {
				return err
			}
			one := past[of]
			one.Events += events
			if cause == alerts.CauseQuiet {
				one.Minute, one.Last = max(one.Minute, seen), max(one.Last, errata.Position(last))
			} else {
				one.Minute = of.minute
			}
			past[of] = one
			return nil
		}, sqlActivityBefore, slices.Concat(aboutEvents(rule), within.rangeArgs(), []any{
			c.behindCheckpoint(), clickhouse.Named("minutes", minutes), clickhouse.Named("since", since),
			clickhouse.Named("all", cause == alerts.CauseQuiet), clickhouse.Named("search", strings.ToLower(rule.Search)),
			clickhouse.Named("signatures", orEmpty(rule.Signatures)),
		})...)
		if err != nil {
			return err
		}
	}
	for _, of := range slices.SortedFunc(maps.Keys(past), pastPeriod.compare) {
		one := past[of]
		one.Counting, one.Cause, one.Project = rule.CountingID(), cause, of.project
		c.written.counted = append(c.written.counted, one)
	}
	return nil
}

// pastPeriod is a period of a project, by its first minute.
type pastPeriod struct {
	project uint64
	minute  int64
}

func (a pastPeriod) compare(b pastPeriod) int {
	return cmp.Or(cmp.Compare(a.minute, b.minute), cmp.Compare(a.project, b.project))
}
