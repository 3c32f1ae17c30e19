package app

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/logcare"
	"github.com/errata-log/errata/logfiles"
)

// openLogCare comes before the projector, which asks it about every gap.
func (a *App) openLogCare(ctx context.Context) (err error) {
	policy, err := logcare.ParsePolicy(a.options.LogGaps)
	if err != nil {
		return err
	}
	a.logCare, err = logcare.New(ctx, logcare.Config{
		Log: a.stream(), Policy: policy, Alarms: a.alarms, Locate: a.locate, LazySync: a.options.LazySync,
		Logger: a.logger, Registerer: a.options.Registry,
	})
	a.tellDamagedFiles()
	return err
}

// alarmFiles: messages of a stream other than the log were damaged.
const alarmFiles = "files-damaged"

// tellDamagedFiles raises an alarm for what the start has found in other streams
// than the log, whose own gaps are told one by one. It stands until the next
// start, which finds nothing any more.
func (a *App) tellDamagedFiles() {
	var found []string
	for _, m := range a.engines.Damaged() {
		if m.Stream != a.stream().Stream {
			found = append(found, fmt.Sprintf("stream %s, file %s, %d bytes, as it was kept in %s", m.Stream, m.File, m.Bytes, m.Kept))
		}
	}
	if len(found) == 0 {
		return
	}
	a.alarms.Raise(alarmFiles, "The disk has damaged messages, which were taken out: "+strings.Join(found, "; ")+". What they held is lost; an older value may be in force.",
		"KV_keys holds the API keys: look at errata keys list and make again what is missing; the other streams hold work in progress. The alarm ends with the next start")
}

// locate names the files of a stretch of the embedded log.
func (a *App) locate(from, to uint64) string {
	if a.options.NATSURL != "" {
		return ""
	}
	files, err := logfiles.Open(filepath.Join(a.dir.Path(), "nats"), a.stream().Stream)
	if err != nil {
		return ""
	}
	return files.Locate(from, to)
}

// caredLog is the API's view of it.
type caredLog struct{ keeper *logcare.Keeper }

var _ api.LogCare = caredLog{}

// LogState is what is known.
func (l caredLog) LogState(context.Context) api.LogState {
	state := l.keeper.State()
	told := api.LogState{
		Policy: string(state.Policy), Open: gapsOf(state.Open), Settled: gapsOf(state.Settled), Back: gapsOf(state.Back),
	}
	if !state.Looked.IsZero() {
		told.Looked = &state.Looked
	}
	return told
}

// VerifyLog reads the whole log.
func (l caredLog) VerifyLog(ctx context.Context) (api.LogReport, error) {
	r, err := l.keeper.Verify(ctx)
	if err != nil {
		return api.LogReport{}, err
	}
	return api.LogReport{
		OK: len(r.Gaps) == 0, First: r.First, Last: r.Last, Facts: r.Facts, Blocks: r.Blocks,
		Events: r.Events, Bytes: r.Bytes, Gaps: gapsOf(r.Gaps),
	}, nil
}

// AcceptGaps accepts what nobody has decided about.
func (l caredLog) AcceptGaps(ctx context.Context, name string) ([]api.LogGap, error) {
	gaps, err := l.keeper.Settle(ctx, name)
	if err != nil {
		return nil, err
	}
	return gapsOf(gaps), nil
}

func gapsOf(gaps []eventlog.Gap) []api.LogGap {
	list := make([]api.LogGap, 0, len(gaps))
	for _, g := range gaps {
		list = append(list, api.LogGap{
			From: g.From, To: g.To, Why: g.Why, LeastEvents: g.Events.Least, MostEvents: g.Events.Most,
			Others: g.Events.Others, Files: g.Files, By: g.By, Name: g.Name,
		})
	}
	return list
}
