package app

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/errata-log/errata/internal/bucket"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/projects"
	"github.com/errata-log/errata/settings"
	"github.com/errata-log/errata/signin"
	"github.com/errata-log/errata/signin/geo"
	"github.com/errata-log/errata/signin/service"
	"github.com/errata-log/errata/signin/smtp"
)

func (a *App) openSettings(ctx context.Context) (err error) {
	if a.settings, err = settings.Open(ctx, settings.Config{Log: a.stream(), Logger: a.logger, Skipped: a.strays.In("log")}); err != nil {
		return err
	}
	a.cleanups.AddPlain("settings", a.settings.Close)
	a.switches = a.settings.Logging
	return nil
}

// setLimits puts the limits that a replay must know on the log, unless they are
// there already. The service also starts when the log takes nothing: the earlier
// limits stay in force, and the next start tries again.
func (a *App) setLimits(ctx context.Context) error {
	if err := a.settings.SetLimits(ctx, settings.Limits{NewRecordsPerHour: uint64(a.options.NewRecordsPerHour)}); err != nil {
		a.logger.Warn("new-records-per-hour could not be put on the log; the value before stays in force until the next start",
			"value", a.options.NewRecordsPerHour, "error", err)
	}
	return nil
}

// openProjects opens the registry of projects, and makes the first project. The service
// also starts when the log takes nothing: the next start tries again.
func (a *App) openProjects(ctx context.Context) (err error) {
	if a.projects, err = projects.NewService(projects.Config{
		Facts: a.settings, Keys: a.keys, Numbers: []uint64{a.options.NATSProject, a.options.LegacyProject}, Now: a.options.Now,
	}); err != nil {
		return err
	}
	a.asked = a.projects.AtDoor
	if err := a.projects.Begin(ctx); err != nil {
		a.logger.Warn("the first project could not be put on the log; the next start tries again", "error", err)
	}
	return nil
}

// openSignIns opens what is asked at sign-in beyond the password.
func (a *App) openSignIns(ctx context.Context) (err error) {
	o, js := a.options, a.engines.JetStream()
	mail, err1 := smtp.Open(o.MailModule, o.SMTP)
	places, err2 := geo.Use(o.GeoDatabase, o.GeoDir(), a.logger)
	challenges, err3 := bucket.Open(ctx, js, migrations.ChallengesBucket(o.Namespace))
	enrolments, err4 := bucket.Open(ctx, js, migrations.EnrolmentsBucket(o.Namespace))
	known, err5 := bucket.Open(ctx, js, migrations.FamiliarBucket(o.Namespace))
	if err = errors.Join(err1, err2, err3, err4, err5); err != nil {
		return err
	}
	a.signIns, err = service.Open(ctx, service.Config{
		Log: a.stream(), Settings: a.settings, InForce: func() signin.Settings { return a.settings.Snapshot().Security },
		Mail: mail, Places: places, SecretDir: a.dir.Path(), Challenges: challenges, Enrolments: enrolments,
		Familiar: known, Days: o.SignInMemoryDays, Skipped: a.strays.In("log"), Now: o.Now, Logger: a.logger,
		Registerer: a.registry,
	})
	if err == nil {
		a.cleanups.Add("sign-ins", a.signIns.Stop)
	}
	return err
}

// GeoDir is the folder of location databases.
func (o Options) GeoDir() string { return filepath.Join(o.Data, "geo") }
