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

// Stopped works on the files of the embedded log while no service runs.
type Stopped struct {
	// Folder has the files of NATS. Of Log only the names of stream and subjects
	// are used.
	Folder string
	Log    eventlog.Log
	// Dial connects to a NATS server that may have a copy of the log. end closes
	// the connection.
	Dial func(ctx context.Context, url string) (log eventlog.Log, end func(context.Context) error, err error)
}

// Verify reads every fact and changes nothing.
func (s Stopped) Verify() (Report, error) {
	files, err := logfiles.Open(s.Folder, s.Log.Stream)
	if err != nil {
		return Report{}, err
	}
	inv, first, events, err := s.read(files)
	if err != nil {
		return Report{}, err
	}
	r := inv.Report(first)
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

// Repair puts lost facts back to the log, from copies: folders of NATS's files, and
// URLs of NATS servers. It returns how many are back, and what is still gone.
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
	inv, first, _, err := s.read(files)
	if err != nil {
		return 0, nil, err
	}
	keep := filepath.Join(s.Folder, "damaged", s.Log.Stream)
	if restored, err = inv.Repair(ctx, first, copies, keep, s.kindOf); err != nil {
		return 0, nil, err
	}
	after, err := s.Verify()
	return restored, after.Gaps, err
}

// open opens a copy. The caller calls end after reading it.
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

// kindOf says of which kind a message of the log is.
func (s Stopped) kindOf(m logfiles.Message) logfiles.Kind {
	subject := strings.TrimPrefix(m.Subject, s.Log.Prefix)
	switch {
	case eventlog.CheckStored(subject, m.Head, m.Data) != nil:
		return logfiles.Damaged
	case eventlog.IsFilling(subject, m.Sequence, m.Data):
		return logfiles.Filling
	}
	return logfiles.Good
}

// read reads all files of the log. It returns the messages, the fact with which the
// log should begin, and the number of readable events.
func (s Stopped) read(files logfiles.Stream) (inv *logfiles.Inventory, first, events uint64, err error) {
	var keeps []uint64
	inv, err = files.Read(func(m logfiles.Message) logfiles.Kind {
		subject := strings.TrimPrefix(m.Subject, s.Log.Prefix)
		if keep := eventlog.StoredKeep(subject, m.Data); keep > 0 {
			keeps = append(keeps, keep)
		}
		events += eventlog.StoredEvents(subject, m.Data)
		return s.kindOf(m)
	})
	if err != nil {
		return nil, 0, 0, fmt.Errorf("read the files of the log: %w", err)
	}
	first = 1
	for _, keep := range keeps {
		if keep <= inv.First {
			first = max(first, keep)
		}
	}
	return inv, first, events, nil
}
