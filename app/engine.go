package app

import (
	"context"

	"github.com/errata-log/errata/watchdog"
)

// startWatchdog brings the embedded log back when it has stopped. An external
// NATS is its operator's.
func (a *App) startWatchdog(context.Context) error {
	if a.options.NATSURL != "" {
		return nil
	}
	dog, err := watchdog.New(watchdog.Config{
		Stopped: a.engines.NATSStopped, TestRoom: a.engines.TestLogRoom, Restart: a.engines.RestartNATS,
		Silent: a.log.Silent,
		Alarms: a.alarms, Now: a.options.Now, Logger: a.logger, Registerer: a.options.Registry,
	})
	if err != nil {
		return err
	}
	dog.Start()
	a.cleanups.addPlain("watchdog", dog.Stop)
	return nil
}
