package app

import (
	"context"

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
