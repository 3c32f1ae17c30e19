package app

import (
	"cmp"
	"context"
	"errors"

	"github.com/errata-log/errata/alerts/outbox"
	"github.com/errata-log/errata/alerts/post"
	"github.com/errata-log/errata/alerts/service"
	"github.com/errata-log/errata/alerts/ticker"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/signin/smtp"
)

// openAlerts opens the rules and channels of alerts, and what sends their messages.
func (a *App) openAlerts(ctx context.Context) (err error) {
	o, js := a.options, a.engines.JetStream()
	progress, err1 := js.KeyValue(ctx, migrations.AlertsBucket(o.Namespace))
	deliveries, err2 := js.KeyValue(ctx, migrations.DeliveriesBucket(o.Namespace))
	mail, err3 := smtp.Open(o.MailModule, o.SMTP)
	if err = errors.Join(err1, err2, err3); err != nil {
		return err
	}
	if a.alerts, err = service.New(a.settings, a.dir.Path()); err != nil {
		return err
	}
	cfg := post.Config{AllowHosts: o.AlertAllowHosts, UserAgent: "Errata/" + o.Version, Now: o.Now}
	if mail != nil {
		cfg.Mail = mail
	}
	if a.ticker, err = ticker.New(ticker.Config{Log: a.stream(), Alerts: a.settings.Alerts, Now: o.Now, Logger: a.logger}); err != nil {
		return err
	}
	sender, err := post.New(cfg)
	if err != nil {
		return err
	}
	a.outbox, err = outbox.New(outbox.Config{
		Progress: progress, Deliveries: deliveries, Alerts: a.settings.Alerts, Channel: a.alerts.Channel,
		Fired: a.reader.Fired, Firings: a.reader.Firings, Folded: a.projector.Store().Sequence, Items: a.reader.Items, Sender: sender, Follow: eventlog.Progressed(a.stream()),
		Note: func(ctx context.Context, key string, f outbox.Failure) error {
			return eventlog.AppendNote(ctx, a.stream(), eventlog.NoteAlertFailed, key, f)
		},
		Slug: func(project uint64) string { return a.projects.Known().SlugOf(project) },
		Page: func() string { return cmp.Or(o.PublicURL, a.welcome.URL) },
		Now:  o.Now, Logger: a.logger, Registerer: a.registry,
	})
	return err
}

// startAlerts begins to send messages, and to say how late it is, once the records are up.
// Links in messages need the address of the service.
func (a *App) startAlerts(context.Context) error {
	a.records.WhenUp(a.outbox.Start)
	a.records.WhenUp(a.ticker.Start)
	a.cleanups.Add("alerts", func(ctx context.Context) error {
		return cmp.Or(a.records.Stop(ctx), errors.Join(a.ticker.Stop(ctx), a.outbox.Stop(ctx)))
	})
	return nil
}
