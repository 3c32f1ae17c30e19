package app

import (
	"context"
	"fmt"

	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/audit"
	"github.com/errata-log/errata/migrations"
)

// startAudit begins to write the trail. It needs the projector's answers, and
// stops before the projector; what has no entry by then gets it after the next
// start.
func (a *App) startAudit(context.Context) (err error) {
	cfg := audit.Config{
		Log: a.stream(), KeysBucket: migrations.KeysBucket(a.options.Namespace),
		Stream: migrations.AuditStream(a.options.Namespace), Answers: a.projector.Store(),
		Now: a.options.Now, Logger: a.logger, Skipped: a.strays.In("audit"),
	}
	if a.audit, err = audit.New(cfg); err != nil {
		return err
	}
	a.audit.Start()
	a.cleanups.add("audit", a.audit.Stop)
	return nil
}

// check says whether changes get their entries. Nobody is kept from changing
// anything when they do not, so an operator must hear of it.
func (a *App) checkAudit(ctx context.Context) api.Check {
	c := api.Check{Name: "audit"}
	used, limit, err := a.audit.Trail().Room(ctx)
	if err != nil {
		c.Detail, c.Hint = err.Error(), "see the checks of nats"
		return c
	}
	want, err := a.audit.Targets(ctx)
	if err != nil {
		c.Detail, c.Hint = err.Error(), "see the checks of nats"
		return c
	}
	at := a.audit.Cursor()
	c.Detail = fmt.Sprintf("changes have entries up to %d of %d on the log and %d of %d of the keys, %d of %d bytes",
		at.Log, want.Log, at.Keys, want.Keys, used, limit)
	if err := a.audit.Err(); err != nil {
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
