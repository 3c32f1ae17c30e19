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

// check says whether changes get their entries. Nobody is kept from changing
// anything when they do not, so an operator must hear of it.
func (t *auditTrail) check(ctx context.Context) api.Check {
	c := api.Check{Name: "audit"}
	used, limit, err := t.trail.Room(ctx)
	if err != nil {
		c.Detail, c.Hint = err.Error(), "see the checks of nats"
		return c
	}
	want, err := t.auditor.Targets(ctx)
	if err != nil {
		c.Detail, c.Hint = err.Error(), "see the checks of nats"
		return c
	}
	at := t.auditor.Cursor()
	c.Detail = fmt.Sprintf("changes have entries up to %d of %d on the log and %d of %d of the keys, %d of %d bytes",
		at.Log, want.Log, at.Keys, want.Keys, used, limit)
	if err := t.auditor.Err(); err != nil {
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
