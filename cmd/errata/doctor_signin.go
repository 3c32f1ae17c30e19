package main

import (
	"context"
	"fmt"
	"time"

	"github.com/errata-log/errata/signin/geo"
	"github.com/errata-log/errata/signin/smtp"
)

// checkMail connects to the mail server, without logging in.
func checkMail(ctx context.Context, c *config) finding {
	f := finding{Check: "mail"}
	sender, err := smtp.Open(c.service.MailModule, c.service.SMTP)
	if sender == nil && err == nil {
		return f.skipped("no mail-module is set; sign-in codes cannot be mailed")
	}
	if err == nil {
		err = sender.Reach(ctx)
	}
	if err != nil {
		return f.failed(err.Error(), "look at smtp-host, smtp-port and smtp-tls, and whether the server runs")
	}
	return f.ok(sender.Server() + " answers; whether it takes mails, the test mail shows")
}

// oldDatabase is how old a location database may be: in half a year some thousand
// blocks of addresses move to other countries.
const oldDatabase = 180 * 24 * time.Hour

// checkLocation reads the location database that the service would use.
func checkLocation(c *config, now time.Time) finding {
	f := finding{Check: "location"}
	info, err := geo.Look(c.service.GeoDatabase, c.service.GeoDir())
	switch {
	case err != nil:
		return f.failed(err.Error(), "run errata geo install, or set --geo-database to a file in MaxMind's format")
	case info.Path == "":
		return f.skipped("no location database; to have one: run errata geo install")
	}
	level := "countries"
	switch {
	case info.City:
		level = "cities"
	case info.Region:
		level = "regions"
	}
	age := now.Sub(info.Built)
	detail := fmt.Sprintf("%s: %s, tells %s, %d days old, %s", info.Path, info.Type, level, int(age.Hours()/24), roundSize(info.Bytes))
	if age > oldDatabase {
		return f.warning(detail, "run errata geo install, or put a newer one there")
	}
	return f.ok(detail)
}
