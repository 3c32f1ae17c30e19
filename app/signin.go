package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

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
	mail, err1 := o.mailSender()
	places, err2 := geo.Use(o.GeoDatabase, o.geoDir(), a.logger)
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

// mailSender is what the mail module sends by, nil when there is none. The
// error names the wrong setting; those of a module that is not chosen may be
// anything.
func (o Options) mailSender() (*smtp.Sender, error) {
	switch o.MailModule {
	case "":
		return nil, nil //nolint:nilnil // the service works without one
	case "smtp":
	default:
		return nil, fmt.Errorf("mail-module: %q is none of: smtp, or nothing for none", o.MailModule)
	}
	sender, err := smtp.New(o.SMTP)
	if field, ok := errors.AsType[*smtp.FieldError](err); ok {
		err = fmt.Errorf("smtp-%s: %s", strings.ToLower(field.Field), field.Problem)
	}
	return sender, err
}

// CheckMail greets the configured mail server, without logging in. server is
// "" when no mail module is configured.
func CheckMail(ctx context.Context, o Options) (server string, err error) {
	sender, err := o.mailSender()
	if sender == nil {
		return "", err
	}
	return sender.Server(), sender.Reach(ctx)
}

// geoDir is where location databases are looked for.
func (o Options) geoDir() string { return filepath.Join(o.Data, "geo") }

// CheckLocation says what the location database is that the service would use;
// the zero Info when there is none.
func CheckLocation(o Options) (geo.Info, error) { return geo.Look(o.GeoDatabase, o.geoDir()) }

// InstallLocation brings the free location database into the data folder.
func InstallLocation(ctx context.Context, o Options) (geo.Installed, error) {
	return geo.Install(ctx, o.geoDir())
}
