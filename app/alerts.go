package app

import (
	"cmp"
	"context"
	"fmt"
	"net/url"

	alertservice "github.com/errata-log/errata/alerts/service"

	"github.com/errata-log/errata/alerts/outbox"
	"github.com/errata-log/errata/alerts/post"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/signin/smtp"
)

// openAlerts opens the rules and channels of alerts, and begins to send messages once the
// records are up.
func (a *App) openAlerts(ctx context.Context) (err error) {
	if a.alerts, err = alertservice.New(a.settings, a.dir.Path()); err != nil {
		return err
	}
	o, js := a.options, a.engines.JetStream()
	progress, err := js.KeyValue(ctx, migrations.AlertsBucket(o.Namespace))
	if err != nil {
		return fmt.Errorf("open the bucket of alerts: %w", err)
	}
	deliveries, err := js.KeyValue(ctx, migrations.DeliveriesBucket(o.Namespace))
	if err != nil {
		return fmt.Errorf("open the bucket of deliveries: %w", err)
	}
	sender, err := a.alertSender()
	if err != nil {
		return err
	}
	if a.outbox, err = outbox.New(outbox.Config{
		Progress: progress, Deliveries: deliveries, Alerts: a.settings.Alerts, Channel: a.alerts.Channel,
		Firings: a.reader.Firings, Items: a.reader.Items, Sender: sender, Follow: eventlog.Progressed(a.stream()),
		Slug: func(project uint64) string { return a.projects.Known().SlugOf(project) },
		RecordLink: func(book, signature string) string {
			return a.pageLink(url.Values{"record": {signature}, "type": {book}})
		},
		RuleLink: func(rule string) string {
			return a.pageLink(url.Values{"view": {"settings"}, "tab": {"alerts"}, "rule": {rule}})
		},
		Now: o.Now, Logger: a.logger, Registerer: o.Registry,
	}); err != nil {
		return err
	}
	a.records.WhenUp(a.outbox.Start)
	a.cleanups.Add("alerts", func(ctx context.Context) error { return cmp.Or(a.records.Stop(ctx), a.outbox.Stop(ctx)) })
	return nil
}

// alertSender sends over HTTP, and mails where there is a mail server.
func (a *App) alertSender() (*post.Sender, error) {
	cfg := post.Config{AllowHosts: a.options.AlertAllowHosts, UserAgent: "Errata/" + a.options.Version, Now: a.options.Now}
	if a.options.MailModule != "" {
		mail, err := smtp.New(a.options.SMTP)
		if err != nil {
			return nil, err
		}
		cfg.Mail = mail
	}
	return post.New(cfg)
}

// pageLink leads to a place on the page.
func (a *App) pageLink(query url.Values) string {
	return cmp.Or(a.options.PublicURL, a.welcome.URL) + "/?" + query.Encode()
}
