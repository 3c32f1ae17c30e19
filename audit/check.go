package audit

import (
	"context"
	"fmt"

	errata "github.com/errata-log/errata"
)

// Check says whether changes get their entries. Changes go on when they do not,
// so an operator must hear of it.
func (a *Auditor) Check(ctx context.Context) errata.Check {
	c := errata.Check{Name: "audit"}
	used, limit, err := a.trail.room(ctx)
	if err != nil {
		c.Detail, c.Hint = err.Error(), "see the checks of nats"
		return c
	}
	want, err := a.Targets(ctx)
	if err != nil {
		c.Detail, c.Hint = err.Error(), "see the checks of nats"
		return c
	}
	at := a.Cursor()
	c.Detail = fmt.Sprintf("changes have entries up to %d of %d on the log and %d of %d of the keys, %d of %d bytes",
		at.Log, want.Log, at.Keys, want.Keys, used, limit)
	if err := a.Err(); err != nil {
		c.Detail += "; " + err.Error()
		c.Hint = "changes take effect and wait for their entries; see the checks of the log and of clickhouse"
		return c
	}
	c.OK = true
	if limit > 0 && used > uint64(limit)/10*9 {
		c.Hint = "the audit trail is nearly full, and then changes wait for their entries: raise max_bytes of its stream"
	}
	return c
}
