package app

import (
	"context"

	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/logcare"
)

// openLogCare comes before the projector, which asks it about every gap.
func (a *App) openLogCare(ctx context.Context) (err error) {
	files := a.dir.Join(datadir.NATSDir)
	if a.options.NATSURL != "" {
		files = "" // out of reach
	}
	a.logCare, err = logcare.New(ctx, logcare.Config{
		Log: a.stream(), Policy: logcare.Policy(a.options.LogGaps), Alarms: a.alarms,
		Folder: files, Mended: a.engines.Damaged(), LazySync: a.options.LazySync,
		Logger: a.logger, Registerer: a.options.Registry,
	})
	return err
}
