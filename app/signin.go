package app

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/signin"
	"github.com/errata-log/errata/signin/bucket"
	"github.com/errata-log/errata/signin/geo"
	"github.com/errata-log/errata/signin/service"
	"github.com/errata-log/errata/signin/smtp"
)

// openSignIns opens what is asked at sign-in beyond the password.
func (a *App) openSignIns(ctx context.Context) error {
	o, js := a.options, a.engines.JetStream()
	mail, err1 := smtp.Open(o.MailModule, o.SMTP)
	places, err2 := geo.Use(o.GeoDatabase, o.GeoDir(), a.logger)
	challenges, err3 := bucket.Open(ctx, js, migrations.ChallengesBucket(o.Namespace))
	enrolments, err4 := bucket.Open(ctx, js, migrations.EnrolmentsBucket(o.Namespace))
	known, err5 := bucket.Open(ctx, js, migrations.FamiliarBucket(o.Namespace))
	err := errors.Join(err1, err2, err3, err4, err5)
	if err != nil {
		return err
	}
	a.signIns, err = service.Open(ctx, service.Config{
		Log: a.stream(), Settings: a.settings, InForce: func() signin.Settings { return a.settings.Snapshot().Security },
		Mail: mail, Places: places, SecretDir: a.dir.Path(), Challenges: challenges, Enrolments: enrolments,
		Familiar: known, Days: o.SignInMemoryDays, Skipped: a.strays.In("log"), Now: o.Now, Logger: a.logger,
	})
	if err == nil {
		a.cleanups.add("sign-ins", a.signIns.Stop)
	}
	return err
}

// GeoDir is the folder of location databases.
func (o Options) GeoDir() string { return filepath.Join(o.Data, "geo") }
