package app

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/errata-log/errata/alerts/post"
	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/exchange"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/otlp"
	"github.com/errata-log/errata/logcare"
	"github.com/errata-log/errata/signin/familiar"
	"github.com/errata-log/errata/signin/smtp"
)

// Validate names the first option that cannot be used, by its setting's name.
// Each package checks the values that are its own.
func (o Options) Validate() error {
	_, spans := otlp.ParseSpanExceptions(o.OTLPSpanExceptions)
	_, gaps := logcare.ParsePolicy(o.LogGaps)
	_, mail := smtp.Open(o.MailModule, o.SMTP)
	_, rules := ingest.NewRules(o.InstallRoots, o.Scrub)
	return cmp.Or(
		of("data", notEmpty(o.Data)),
		of("listen", datadir.CheckListen(o.Listen, "8080")),
		of("otlp-listen", datadir.CheckSecondListen(o.OTLPListen, o.Listen, "4318")),
		of("otlp-span-exceptions", spans),
		of("public-url", datadir.CheckURL(o.PublicURL, "http", "https")),
		o.TLS.Validate(),
		o.Options.Validate(),
		of("nats-project", aProject(o.NATSProject)),
		of("log-gaps", gaps),
		of("admin-rate-limit", notNegative(o.AdminRateLimit)),
		of("key-events-per-minute", notNegative(o.KeyEventsPerMinute)),
		of("project-events-per-minute", notNegative(o.ProjectEventsPerMinute)),
		of("new-records-per-hour", notNegative(o.NewRecordsPerHour)),
		of("module-log-days", exchange.CheckDays(o.ModuleLogDays)),
		of("query-log-days", exchange.CheckDays(o.QueryLogDays)),
		of("alert-allow-hosts", post.CheckHosts(o.AlertAllowHosts)),
		of("signin-memory-days", familiar.CheckDays(o.SignInMemoryDays)),
		of("legacy-project", aProject(o.LegacyProject)),
		mail,
		rules,
	)
}

// of puts the name of a setting before its error; nil stays nil.
func of(setting string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", setting, err)
}

func notEmpty(folder string) error {
	if strings.TrimSpace(folder) == "" {
		return errors.New("want a folder, got none")
	}
	return nil
}

func notNegative(limit int) error {
	if limit < 0 {
		return fmt.Errorf("%d is negative; 0 switches the limit off", limit)
	}
	return nil
}

func aProject(number uint64) error {
	if number == 0 {
		return errors.New("want the number of a project, from 1 up")
	}
	return nil
}
