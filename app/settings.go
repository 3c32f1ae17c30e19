package app

import (
	"context"

	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/settings"
)

func (a *App) openSettings(ctx context.Context) (err error) {
	if a.settings, err = settings.Open(ctx, settings.Config{Log: a.stream(), Logger: a.logger, Skipped: a.strays.In("log")}); err != nil {
		return err
	}
	a.cleanups.addPlain("settings", a.settings.Close)
	return nil
}

// switches are the settings as the receivers see them.
func (a *App) switches() ingest.Switches {
	if a.settings == nil { // an ingest node: the hub leaves out what it does not want
		return ingest.DefaultSwitches()
	}
	l := &a.settings.Snapshot().Logging
	return ingest.Switches{ErrorLog: l.ErrorLog, Development: l.Development}
}

// errorDebug is the setting as the API sees it.
func (a *App) errorDebug() bool { return a.settings.Snapshot().Logging.ErrorDebug }

// development is the setting as the API sees it.
func (a *App) development() bool { return a.settings.Snapshot().Logging.Development }

// logSettings are the settings of logging as the API sees them.
type logSettings struct{ store *settings.Store }

var _ api.LogSettings = logSettings{}

// ReadLogging asks the log.
func (s logSettings) ReadLogging(ctx context.Context) (api.Logging, error) {
	l, err := s.store.ReadLogging(ctx)
	return api.Logging(l), err
}

// UpdateLogging changes what the patch names.
func (s logSettings) UpdateLogging(ctx context.Context, patch api.LoggingPatch) (api.Logging, error) {
	l, err := s.store.UpdateLogging(ctx, func(l settings.Logging) (settings.Logging, error) {
		for _, field := range []struct {
			to   *bool
			from *bool
		}{
			{&l.ErrorLog, patch.ErrorLog},
			{&l.ErrorDebug, patch.ErrorDebug},
			{&l.Development, patch.Development},
			{&l.ModuleLog, patch.ModuleLog},
			{&l.QueryLogging, patch.QueryLogging},
		} {
			if field.from != nil {
				*field.to = *field.from
			}
		}
		if patch.QueryLoggingIPs != nil {
			l.QueryLoggingIPs = *patch.QueryLoggingIPs
		}
		return l, nil
	})
	return api.Logging(l), err
}
