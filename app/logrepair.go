package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/logcare"
	"github.com/errata-log/errata/migrations"
)

const (
	// natsFolder is where the embedded NATS keeps its files, below the data folder.
	natsFolder = "nats"
	// copyTimeout is how long a server that has a copy may take to be reached.
	copyTimeout = 5 * time.Second
)

// errExternalLog says that the files are somebody else's.
var errExternalLog = errors.New("the log is on a NATS server of its own (nats-url); mend it there, from another replica or a backup of the stream")

// VerifyStoppedLog reads the files of the embedded log while no service runs, and
// changes nothing. A folder that a service holds is a [*datadir.InUseError].
func VerifyStoppedLog(o Options) (logcare.Report, error) {
	dir, log, err := o.stoppedLog()
	if err != nil {
		return logcare.Report{}, err
	}
	defer dir.Close() //nolint:errcheck // the kernel drops the lock in any case
	return log.Verify()
}

// RepairStoppedLog puts facts back that the embedded log has lost, from copies:
// folders like nats in Data, and NATS servers, each given as [Options.NATSURL]
// with its scheme. It returns how many are back, and what is still gone. A folder
// that a service holds is a [*datadir.InUseError].
func RepairStoppedLog(ctx context.Context, o Options, from []string) (restored int, gone []logcare.Gap, err error) {
	dir, log, err := o.stoppedLog()
	if err != nil {
		return 0, nil, err
	}
	defer dir.Close() //nolint:errcheck // the kernel drops the lock in any case
	return log.Repair(ctx, from)
}

// stoppedLog takes the data folder and finds the log in it.
func (o Options) stoppedLog() (*datadir.Dir, logcare.Stopped, error) {
	if o.NATSURL != "" {
		return nil, logcare.Stopped{}, errExternalLog
	}
	dir, err := datadir.Open(o.Data)
	if err != nil {
		return nil, logcare.Stopped{}, err
	}
	return dir, logcare.Stopped{Folder: dir.Join(natsFolder), Log: o.log(), Dial: o.dialCopy}, nil
}

// dialCopy reaches a server that may have a copy of the log.
func (o Options) dialCopy(ctx context.Context, url string) (log eventlog.Log, end func(context.Context) error, err error) {
	if err := validNATS(url); err != nil {
		return log, nil, fmt.Errorf("from: %w", err)
	}
	server, err := engine.StartNATS(ctx, engine.NATSConfig{URL: url, ConnectTimeout: copyTimeout, Logger: o.withDefaults().Logger})
	if err != nil {
		return log, nil, fmt.Errorf("reach the copy; its server must be up, with JetStream: %w", err)
	}
	log = o.log()
	log.NATS, log.JetStream = server.Conn(), server.JetStream()
	return log, server.Stop, nil
}

// log names the log, without a way to reach it.
func (o Options) log() eventlog.Log {
	return eventlog.Log{Stream: migrations.StreamName(o.Namespace), Prefix: migrations.SubjectPrefix(o.Namespace)}
}
