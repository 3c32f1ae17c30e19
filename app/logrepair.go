package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/logcare"
	"github.com/errata-log/errata/migrations"
)

// copyTimeout is how long a server that has a copy may take to be reached.
const copyTimeout = 5 * time.Second

// OpenStoppedLog opens the embedded log while no service runs, to check and to
// mend it. A folder that a service holds is a [*datadir.InUseError].
func OpenStoppedLog(o Options) (*logcare.Stopped, error) {
	if o.NATSURL != "" {
		return nil, errors.New("the log is on a NATS server of its own (nats-url); mend it there, from another replica or a backup of the stream")
	}
	return logcare.OpenStopped(o.Data, o.log(), o.dialCopy)
}

// dialCopy reaches a server that may have a copy of the log.
func (o Options) dialCopy(ctx context.Context, url string) (log eventlog.Log, end func(context.Context) error, err error) {
	if err := engine.CheckNATS(url); err != nil {
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
