package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/logfiles"
	"github.com/errata-log/errata/migrations"
)

// RepairedLog is what a repair has done.
type RepairedLog struct {
	Restored int
	// Gaps are what is still gone.
	Gaps []api.LogGap
}

// errExternalLog says that the files are somebody else's.
var errExternalLog = errors.New("the log is on a NATS server of its own (nats-url); mend it there, from another replica or a backup of the stream")

// VerifyStoppedLog reads the files of the embedded log while no service runs, and
// changes nothing. A folder that a service holds is a [*datadir.InUseError].
func VerifyStoppedLog(o Options) (api.LogReport, error) {
	dir, stream, err := stoppedLog(o)
	if err != nil {
		return api.LogReport{}, err
	}
	defer dir.Close() //nolint:errcheck // the kernel drops the lock in any case
	return checkFiles(o, stream)
}

// RepairStoppedLog puts facts back that the embedded log has lost, from copies:
// folders like nats in Data, and NATS servers, each given as [Options.NATSURL]
// with its scheme. A folder that a service holds is an [*datadir.InUseError].
func RepairStoppedLog(ctx context.Context, o Options, from []string) (done RepairedLog, err error) {
	dir, stream, err := stoppedLog(o)
	if err != nil {
		return done, err
	}
	defer dir.Close() //nolint:errcheck // the kernel drops the lock in any case
	var copies []logfiles.Copy
	for _, where := range from {
		open := openCopy
		if strings.Contains(where, "://") {
			open = dialCopy
		}
		c, closed, err := open(ctx, o, where)
		if err != nil {
			return done, err
		}
		defer closed() //nolint:errcheck // it was only read
		copies = append(copies, c)
	}
	first, _, err := judged(o, stream)
	if err != nil {
		return done, err
	}
	keep := filepath.Join(dir.Path(), "nats", "damaged", stream.Name)
	if done.Restored, err = stream.Repair(ctx, first, copies, keep, judge(o)); err != nil {
		return done, err
	}
	after, err := checkFiles(o, stream)
	done.Gaps = after.Gaps
	return done, err
}

func openCopy(_ context.Context, o Options, folder string) (logfiles.Copy, func() error, error) {
	stream, err := logfiles.Open(folder, migrations.StreamName(o.Namespace))
	if err != nil {
		return nil, nil, err
	}
	c, err := stream.Copy()
	return c, func() error { return nil }, err
}

// copyTimeout is how long a server that has a copy may take to be reached.
const copyTimeout = 5 * time.Second

func dialCopy(ctx context.Context, o Options, url string) (logfiles.Copy, func() error, error) {
	if err := validNATS(url); err != nil {
		return nil, nil, fmt.Errorf("from: %w", err)
	}
	server, err := engine.StartNATS(ctx, engine.NATSConfig{URL: url, ConnectTimeout: copyTimeout, Logger: o.withDefaults().Logger})
	if err != nil {
		return nil, nil, fmt.Errorf("reach the copy; its server must be up, with JetStream: %w", err)
	}
	return eventlog.Copy{Log: eventlog.Log{
		NATS: server.Conn(), JetStream: server.JetStream(),
		Stream: migrations.StreamName(o.Namespace), Prefix: migrations.SubjectPrefix(o.Namespace),
	}}, func() error { return server.Stop(ctx) }, nil
}

// stoppedLog takes the data folder and finds the log in it.
func stoppedLog(o Options) (*datadir.Dir, logfiles.Stream, error) {
	if o.NATSURL != "" {
		return nil, logfiles.Stream{}, errExternalLog
	}
	dir, err := datadir.Open(o.Data)
	if err != nil {
		return nil, logfiles.Stream{}, err
	}
	stream, err := logfiles.Open(filepath.Join(dir.Path(), "nats"), migrations.StreamName(o.Namespace))
	if err != nil {
		return nil, logfiles.Stream{}, errors.Join(err, dir.Close())
	}
	return dir, stream, nil
}

// judge says what a message of the log is worth.
func judge(o Options) func(logfiles.Message) logfiles.Kind {
	prefix := migrations.SubjectPrefix(o.Namespace)
	return func(m logfiles.Message) logfiles.Kind {
		subject := strings.TrimPrefix(m.Subject, prefix)
		switch {
		case eventlog.CheckStored(subject, m.Head, m.Data) != nil:
			return logfiles.Damaged
		case eventlog.IsFilling(subject, m.Sequence, m.Data):
			return logfiles.Filling
		}
		return logfiles.Good
	}
}

// judged reads the log once: with which fact it should begin, and how many
// events are good.
func judged(o Options, stream logfiles.Stream) (first, events uint64, err error) {
	prefix := migrations.SubjectPrefix(o.Namespace)
	var keeps []uint64
	worth := judge(o)
	report, err := stream.Check(0, func(m logfiles.Message) logfiles.Kind {
		subject := strings.TrimPrefix(m.Subject, prefix)
		if keep := eventlog.StoredKeep(subject, m.Data); keep > 0 {
			keeps = append(keeps, keep)
		}
		events += eventlog.StoredEvents(subject, m.Data)
		return worth(m)
	})
	first = 1
	for _, keep := range keeps {
		if keep <= report.First {
			first = max(first, keep)
		}
	}
	return first, events, err
}

func checkFiles(o Options, stream logfiles.Stream) (api.LogReport, error) {
	first, events, err := judged(o, stream)
	if err != nil {
		return api.LogReport{}, err
	}
	r, err := stream.Check(first, judge(o))
	if err != nil {
		return api.LogReport{}, fmt.Errorf("read the files of the log: %w", err)
	}
	report := api.LogReport{
		OK: len(r.Gone) == 0, First: r.First, Last: r.Last, Facts: r.Messages, Events: events, Bytes: r.Bytes, Gaps: []api.LogGap{},
	}
	for _, gone := range r.Gone {
		gap := api.LogGap{From: gone.From, To: gone.To, Why: eventlog.GapMissing, Files: stream.Locate(gone.From, gone.To)}
		if gone.Damaged {
			gap.Why = eventlog.GapUnreadable
		}
		gap.Others = gap.To - gap.From + 1
		gap.MostEvents = gap.Others * errata.MaxBlockEvents
		report.Gaps = append(report.Gaps, gap)
	}
	return report, nil
}
