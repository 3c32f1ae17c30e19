package app

import (
	"context"

	"github.com/errata-log/errata/api/kept"
	"github.com/errata-log/errata/audit"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/feed"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/query"
)

// openReader makes the reader of the records.
func (a *App) openReader(context.Context) error {
	a.reader = query.New(query.Config{ClickHouse: a.engines.ReadOnlyClickHouse(), Trust: a.checker, Ready: a.caughtUp.Err, Now: a.options.Now,
		Payloads: projector.NewPayloads(a.engines.ReadOnlyClickHouse(), a.stream())})
	return nil
}

// openCommander makes what puts commands on the log.
func (a *App) openCommander(context.Context) (err error) {
	if a.commander, err = eventlog.NewCommander(eventlog.CommanderConfig{Log: a.stream(), Answers: a.projector.Store(), Spool: a.spool()}); err != nil {
		return err
	}
	a.cleanups.Add("commander", func(context.Context) error { return a.commander.Close() })
	return nil
}

// openRequests opens the answers to requests with an Idempotency-Key.
func (a *App) openRequests(ctx context.Context) (err error) {
	a.answers, err = kept.Open(ctx, a.engines.JetStream(), migrations.RequestsBucket(a.options.Namespace), a.options.Now)
	return err
}

// makeViews makes the views for analysts.
func (a *App) makeViews(ctx context.Context) error {
	return migrations.ViewsIfAllowed(ctx, a.engines.ClickHouseOptions(), a.engines.Views(), a.logger)
}

// openFeed makes the feed of changes. It reads the log and the records and not the
// projector of this node, so that every node tells the same changes.
func (a *App) openFeed(context.Context) (err error) {
	a.feed, err = feed.New(feed.Config{
		Checkpoint: a.projector.Store().Sequence,
		Commands:   feed.Commands(a.stream(), a.projector.Store()),
		Changed:    a.reader.Changed, Live: a.reader.Live, ProjectsOf: a.reader.ProjectsOf, CountUsers: a.reader.CountUsers,
		Follow: eventlog.Progressed(a.stream()), Logger: a.logger,
	})
	return err
}

// startAudit begins to write the audit trail. It needs the projector's answers, so
// it stops before the projector. A change without an entry gets one after the next
// start.
func (a *App) startAudit(context.Context) (err error) {
	if a.audit, err = audit.New(audit.Config{
		Log: a.stream(), KeysBucket: migrations.KeysBucket(a.options.Namespace),
		Stream: migrations.AuditStream(a.options.Namespace), Answers: a.projector.Store(),
		Now: a.options.Now, Logger: a.logger, Skipped: a.strays.In("audit"),
	}); err != nil {
		return err
	}
	a.audit.Start()
	a.cleanups.Add("audit", a.audit.Stop)
	return nil
}
