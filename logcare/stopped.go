package logcare

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/logfiles"
)

// Stopped is the embedded log while no service runs: its files.
type Stopped struct {
	// Folder is that of NATS's files, Log the names of stream and subjects.
	Folder string
	Log    eventlog.Log
	// Dial reaches a NATS server that may have a copy, and returns what ends the
	// connection.
	Dial func(ctx context.Context, url string) (log eventlog.Log, end func(context.Context) error, err error)
}

// Verify reads every fact and changes nothing.
func (s Stopped) Verify() (Report, error) {
	files, err := logfiles.Open(s.Folder, s.Log.Stream)
	if err != nil {
		return Report{}, err
	}
	first, events, err := s.begin(files)
	if err != nil {
		return Report{}, err
	}
	r, err := files.Check(first, s.worth)
	if err != nil {
		return Report{}, fmt.Errorf("read the files of the log: %w", err)
	}
	report := Report{OK: len(r.Gone) == 0, First: r.First, Last: r.Last, Facts: r.Messages, Events: events, Bytes: r.Bytes, Gaps: []Gap{}}
	for _, gone := range r.Gone {
		gap := Gap{From: gone.From, To: gone.To, Why: eventlog.GapMissing, Files: files.Locate(gone.From, gone.To)}
		if gone.Damaged {
			gap.Why = eventlog.GapUnreadable
		}
		gap.Others = gap.To - gap.From + 1
		gap.MostEvents = gap.Others * errata.MaxBlockEvents
		report.Gaps = append(report.Gaps, gap)
	}
	return report, nil
}

// Repair puts facts back that the log has lost, from copies: folders of NATS's
// files, and the URLs of NATS servers. It returns how many are back, and what is
// still gone.
func (s Stopped) Repair(ctx context.Context, from []string) (restored int, gone []Gap, err error) {
	files, err := logfiles.Open(s.Folder, s.Log.Stream)
	if err != nil {
		return 0, nil, err
	}
	var copies []logfiles.Copy
	for _, where := range from {
		c, end, err := s.open(ctx, where)
		if err != nil {
			return 0, nil, err
		}
		defer end(ctx) //nolint:errcheck // it was only read
		copies = append(copies, c)
	}
	first, _, err := s.begin(files)
	if err != nil {
		return 0, nil, err
	}
	keep := filepath.Join(s.Folder, "damaged", s.Log.Stream)
	if restored, err = files.Repair(ctx, first, copies, keep, s.worth); err != nil {
		return 0, nil, err
	}
	after, err := s.Verify()
	return restored, after.Gaps, err
}

// open opens a copy. end is to be called when it was read.
func (s Stopped) open(ctx context.Context, where string) (_ logfiles.Copy, end func(context.Context) error, err error) {
	if strings.Contains(where, "://") {
		log, end, err := s.Dial(ctx, where)
		return eventlog.Copy{Log: log}, end, err
	}
	files, err := logfiles.Open(where, s.Log.Stream)
	if err != nil {
		return nil, nil, err
	}
	c, err := files.Copy()
	return c, func(context.Context) error { return nil }, err
}

// worth says what a message of the log is worth.
func (s Stopped) worth(m logfiles.Message) logfiles.Kind {
	subject := strings.TrimPrefix(m.Subject, s.Log.Prefix)
	switch {
	case eventlog.CheckStored(subject, m.Head, m.Data) != nil:
		return logfiles.Damaged
	case eventlog.IsFilling(subject, m.Sequence, m.Data):
		return logfiles.Filling
	}
	return logfiles.Good
}

// begin reads the log once: with which fact it should begin, and how many events
// are good.
func (s Stopped) begin(files logfiles.Stream) (first, events uint64, err error) {
	var keeps []uint64
	report, err := files.Check(0, func(m logfiles.Message) logfiles.Kind {
		subject := strings.TrimPrefix(m.Subject, s.Log.Prefix)
		if keep := eventlog.StoredKeep(subject, m.Data); keep > 0 {
			keeps = append(keeps, keep)
		}
		events += eventlog.StoredEvents(subject, m.Data)
		return s.worth(m)
	})
	first = 1
	for _, keep := range keeps {
		if keep <= report.First {
			first = max(first, keep)
		}
	}
	return first, events, err
}
