package selfcheck

import (
	"context"
	"fmt"
	"time"

	errata "github.com/errata-log/errata"
)

// late is the time without a successful look after which the check fails.
const late = 5 * lookPause

// Check returns the line of errata doctor: what the last look found.
func (c *Checker) Check(context.Context) errata.Check {
	told := errata.Check{Name: "self-check", OK: true}
	now, r := c.cfg.Now(), c.Last()
	switch {
	case r.At.IsZero():
		told.Detail = "the first look has not ended yet"
		return told
	case len(r.Damage) > 0:
		told.OK, told.Detail, told.Hint = false, r.Damage[0].String(), "see the alarms"
		return told
	case r.Err != nil:
		told.OK = now.Sub(r.Good) < late
		told.Detail, told.Hint = fmt.Sprintf("the last look failed: %v", r.Err), "see the check of clickhouse"
		return told
	}
	told.Detail = fmt.Sprintf("%d records that count %d events, as their checkpoint says; %d of %d parts read, %d MiB, in %v, %v ago",
		r.Records, r.Events, r.Parts, r.Of, r.Bytes>>20, r.Took.Round(time.Millisecond), now.Sub(r.At).Round(time.Second))
	if m := r.Mended; !m.At.IsZero() {
		told.Detail += fmt.Sprintf("; the last mend was at %s: %s", m.At.UTC().Format(time.RFC3339), m.What)
	}
	return told
}
