package app

import (
	"context"
	"encoding/json"
	"fmt"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/audit"
	"github.com/errata-log/errata/migrations"
)

// startAudit begins to write the trail. It needs the projector's answers, and
// stops before the projector; what has no entry by then gets it after the next
// start.
func (a *App) startAudit(context.Context) error {
	cfg := audit.Config{
		Log: a.stream(), KeysBucket: migrations.KeysBucket(a.options.Namespace),
		Stream: migrations.AuditStream(a.options.Namespace), Answers: a.projector.Store(),
		Now: a.options.Now, Logger: a.logger, Skipped: a.strays.In("audit"),
	}
	auditor, err := audit.New(cfg)
	if err != nil {
		return err
	}
	a.audit = &auditTrail{auditor: auditor, trail: audit.NewTrail(cfg)}
	auditor.Start()
	a.cleanups.add("audit", auditor.Stop)
	return nil
}

// auditTrail is the trail for the API and for the checks.
type auditTrail struct {
	auditor *audit.Auditor
	trail   *audit.Trail
}

var _ api.Audit = (*auditTrail)(nil)

func (t *auditTrail) List(ctx context.Context, q api.AuditQuery) (api.AuditPage, error) {
	behind := t.auditor.CaughtUp(ctx) != nil
	page, err := t.trail.List(ctx, audit.Query{
		Limit: q.Limit, Before: q.Cursor, Actor: q.Actor, Action: q.Action, From: q.From, To: q.To,
	})
	if err != nil {
		return api.AuditPage{}, auditUnavailable(err)
	}
	told := api.AuditPage{Next: page.Next, Behind: behind}
	for i := range page.Entries {
		text, err := json.Marshal(&page.Entries[i])
		if err != nil {
			return api.AuditPage{}, fmt.Errorf("encode audit entry %d: %w", page.Entries[i].N, err)
		}
		told.Entries = append(told.Entries, text)
	}
	return told, nil
}

func (t *auditTrail) Verify(ctx context.Context) (api.AuditReport, error) {
	r, err := t.trail.Verify(ctx)
	if err != nil {
		return api.AuditReport{}, auditUnavailable(err)
	}
	told := api.AuditReport{Entries: r.Entries, Head: r.Head, Foreign: r.Foreign}
	if r.Problem != nil {
		told.Broken, told.Reason = r.Problem.N, r.Problem.Reason
	}
	return told, nil
}

func auditUnavailable(err error) error {
	return errata.Errorf(errata.KindLogUnavailable, "The audit trail does not answer; try again shortly.").Because(err)
}
