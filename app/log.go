package app

import (
	"context"
	"errors"
	"time"

	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/logcare"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/ops"
	"github.com/errata-log/errata/watchdog"
)

func (a *App) openLog(context.Context) error {
	appender, err := eventlog.NewAppender(eventlog.AppenderConfig{
		Log: a.stream(), Spool: a.spool(), Queue: a.options.IsLeaf(), Logger: a.logger, Registerer: a.registry,
	})
	if err != nil {
		return err
	}
	a.cleanups.Add("log", appender.Close)
	a.log = ops.NewLog(appender, a.logState, a.options.Now)
	return nil
}

// stream says where the log is. The log of an ingest node is its spool.
func (a *App) stream() eventlog.Log {
	log := a.options.log()
	log.NATS, log.JetStream, log.Node = a.engines.NATS.Conn(), a.engines.JetStream(), a.engines.NATS.Self()
	if a.options.IsLeaf() {
		log.Stream, log.Prefix = migrations.SpoolStream, migrations.SpoolPrefix
	}
	return log
}

// logState asks the log how far it reaches and how large it is.
func (a *App) logState(ctx context.Context) (eventlog.State, error) {
	return eventlog.Inspect(ctx, a.stream())
}

// openLogCare comes before the projector, which asks it about every gap.
func (a *App) openLogCare(ctx context.Context) (err error) {
	files := a.dir.Join(datadir.NATSDir)
	if a.options.NATSURL != "" {
		files = "" // they are on another server
	}
	a.logCare, err = logcare.New(ctx, logcare.Config{
		Log: a.stream(), Policy: logcare.Policy(a.options.LogGaps), Alarms: a.alarms,
		Folder: files, Mended: a.engines.NATS.Damaged(), LazySync: a.options.LazySync,
		Logger: a.logger, Registerer: a.registry,
	})
	return err
}

// startWatchdog restarts the embedded NATS when it takes no messages any more. The
// operator of an external NATS does that.
func (a *App) startWatchdog(context.Context) error {
	if a.options.NATSURL != "" {
		return nil
	}
	silent := a.log.Silent
	if a.options.Cluster.On() { // without a majority nobody answers, and a restart would not help
		silent = func() (first, last time.Time, why error) { return }
	}
	dog, err := watchdog.New(watchdog.Config{
		Stopped: a.engines.NATS.Stopped, TestRoom: a.engines.NATS.TestRoom, Restart: a.engines.NATS.Restart,
		Silent: silent,
		Alarms: a.alarms, Now: a.options.Now, Logger: a.logger, Registerer: a.registry,
	})
	if err != nil {
		return err
	}
	dog.Start()
	a.cleanups.AddPlain("watchdog", dog.Stop)
	return nil
}

// OpenStoppedLog takes the data folder while no service runs, and returns it with its
// log, to check or to mend that. The error for a folder that a service holds is a
// [*datadir.InUseError].
func OpenStoppedLog(o Options) (*datadir.Dir, logcare.Stopped, error) {
	if o.NATSURL != "" {
		return nil, logcare.Stopped{}, errors.New("the log is on a NATS server of its own (nats-url); mend it there, from another replica or a backup of the stream")
	}
	dir, err := datadir.Open(o.Data)
	if err != nil {
		return nil, logcare.Stopped{}, err
	}
	return dir, logcare.Stopped{Folder: dir.Join(datadir.NATSDir), Log: o.log(), Dial: o.dialCopy}, nil
}

// LogRoom is what the embedded log uses, and what is free on its disk, in bytes.
func (o Options) LogRoom() (used, free int64, err error) { return engine.LogRoom(o.Data) }

// dialCopy connects to a server that may have a copy of the log.
func (o Options) dialCopy(ctx context.Context, url string) (log eventlog.Log, end func(context.Context) error, err error) {
	server, err := engine.DialCopy(ctx, url, o.withDefaults().Logger)
	if err != nil {
		return log, nil, err
	}
	log = o.log()
	log.NATS, log.JetStream = server.Conn(), server.JetStream()
	return log, server.Stop, nil
}

// log names the stream and the subjects of the log. It has no connection.
func (o Options) log() eventlog.Log {
	return eventlog.Log{Stream: migrations.StreamName(o.Namespace), Prefix: migrations.SubjectPrefix(o.Namespace)}
}
