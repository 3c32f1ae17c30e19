package app

import (
	"context"

	"github.com/errata-log/errata/settings"
)

func (a *App) openSettings(ctx context.Context) (err error) {
	if a.settings, err = settings.Open(ctx, settings.Config{Log: a.stream(), Logger: a.logger, Skipped: a.strays.In("log")}); err != nil {
		return err
	}
	a.cleanups.addPlain("settings", a.settings.Close)
	a.switches = a.settings.Logging
	return nil
}
