//go:build clients

package clients

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/logfiles"
)

// logRoom is how many bytes the log may have while so many events are sent: a fraction
// of what they take, so that it is purged several times, and not less than a log must
// have.
func logRoom(events int) int { return max(16<<20, events*24) }

// purge is a purge of the log: the sequence of the snapshot before it, and the first
// fact that stayed.
type purge struct{ sequence, keep uint64 }

// logState is what the log has.
type logState struct{ First, Last, Events uint64 }

// rest waits until the log needs no purge, and says what was purged so far and what is
// left. Nobody sends meanwhile.
func (s *scenario) rest(t *testing.T) (log logState, purges []purge) {
	t.Helper()
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	late := time.After(never)
	for {
		(&service{Service: s.unchecked}).await(t, func(sums map[string]float64) bool {
			return sums["errata_log_bytes"] < 0.85*sums["errata_log_max_bytes"]
		})
		purges, log = s.purges(t), s.verify(t)
		if len(purges) == 0 || log.First == purges[len(purges)-1].keep {
			return log, purges
		}
		select {
		case <-poll.C: // the snapshot is taken, and the purge comes
		case <-late:
			t.Fatalf("the log begins at %d after the purges %v", log.First, purges)
		}
	}
}

// verify has every fact of the log read.
func (s *scenario) verify(t *testing.T) (log logState) {
	t.Helper()
	var report struct {
		OK bool
		logState
	}
	s.change(t, http.MethodPost, "/api/v1/admin/ops/log/verify", map[string]any{}, &report)
	if !report.OK {
		t.Errorf("the log: %+v", report)
	}
	return report.logState
}

// purges are all so far, by the audit trail.
func (s *scenario) purges(t *testing.T) (all []purge) {
	t.Helper()
	const most = 100
	var entries []struct {
		Source  struct{ Sequence uint64 }
		Request struct{ Keep uint64 }
	}
	s.unchecked.GetData(t, fmt.Sprintf("/api/v1/admin/audit?action=log.snapshot&limit=%d", most), &entries)
	if len(entries) == most {
		t.Errorf("more than %d purges", most)
	}
	for _, e := range slices.Backward(entries) {
		all = append(all, purge{e.Source.Sequence, e.Request.Keep})
	}
	return all
}

// places finds where the requests are on the log that are to be sent again. It is called
// before records are deleted.
func (s *scenario) places(t *testing.T) {
	t.Helper()
	for i := range s.recorder.later {
		var found struct{ Occurrence occurrence }
		f := &s.recorder.later[i]
		s.unchecked.GetData(t, "/api/v1/admin/tools/logs/occurrences/"+f.first, &found)
		f.sequence = errata.Position(found.Occurrence.Position).Sequence()
	}
}

// remembered is the sequence from which on events stay on the log, and so are recognised
// when they are sent again, through another purge. A purge leaves four tenths of the facts
// of a full log.
func (s *scenario) remembered(t *testing.T) uint64 {
	t.Helper()
	log, _ := s.rest(t)
	return log.Last - (log.Last-log.First)*3/10
}

// cuts purges the log up to now, with the erasure of somebody of whom nothing is recorded,
// and sends requests again that were purged: their events are forgotten, and count again.
func (s *scenario) cuts(t *testing.T) {
	t.Helper()
	before := s.verify(t)
	var erased struct {
		Count  int
		LogCut bool `json:"log_cut"`
	}
	s.change(t, http.MethodPost, "/api/v1/admin/ops/erase", map[string]any{"users": []string{"nobody of the plan"}, "cut_log": true}, &erased)
	log, _ := s.rest(t)
	if erased.Count != 0 || !erased.LogCut || log.First <= before.Last {
		t.Errorf("erased %+v; before it the log was %+v, then %+v", erased, before, log)
	}
	for _, f := range s.recorder.early {
		s.recorder.insist(f)
		for _, id := range f.ids(t) {
			e, ok := s.planned(id)
			if !ok {
				t.Fatalf("%s is not planned", id)
			}
			s.books.add(&e)
			s.twice[id] = true
		}
	}
}

// keptLatest is the position of the occurrence whose payload was copied before a purge: the
// latest that the record had then, if it went. all are its occurrences, the newest first.
func keptLatest(all []occurrence, purges []purge) (position uint64) {
	for _, p := range purges {
		for _, o := range all {
			if at := errata.Position(o.Position).Sequence(); at < p.sequence {
				if at < p.keep {
					position = o.Position
				}
				break
			}
		}
	}
	return position
}

// compareLog kills the service and compares every event on its log with what the doors made
// of it. shown are the events of the occurrences that are on the log, by position.
func (s *scenario) compareLog(t *testing.T, shown map[uint64]errata.EventID) {
	t.Helper()
	began := time.Now()
	log, _ := s.rest(t)
	s.kill(t)
	stream, err := logfiles.Open(filepath.Join(s.Data, "nats"), "LOG")
	if err != nil {
		t.Fatal(err)
	}
	facts, err := stream.Copy()
	if err != nil {
		t.Fatal(err)
	}
	var events uint64
	for from := log.First; ; {
		fact, found, err := facts.Next(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		if !found {
			break
		}
		from = fact.Sequence + 1
		if eventlog.StoredEvents(fact.Subject, fact.Data) > 0 {
			events += s.compareBlock(t, &fact, shown)
		}
	}
	if events != log.Events || len(shown) > 0 {
		t.Errorf("%d events are on the log, it said %d; of the occurrences %d are not there", events, log.Events, len(shown))
	}
	t.Logf("%d payloads on the log compared; in %v", events, time.Since(began).Round(time.Millisecond))
}

// compareBlock compares the events of a block, and removes them from those that are shown.
func (s *scenario) compareBlock(t *testing.T, fact *logfiles.Message, shown map[uint64]errata.EventID) (events uint64) {
	t.Helper()
	block, err := eventlog.DecodeBlock(fact.Data, nil)
	if err != nil {
		t.Fatal(err)
	}
	block.Entries(func(i int, entry eventlog.Entry) {
		e, err := entry.Event()
		if err != nil {
			t.Fatal(err)
		}
		events++
		at := uint64(errata.PositionOf(fact.Sequence, i))
		s.recorder.doors.compare(t, fmt.Sprintf("event %d of fact %d", i, fact.Sequence), e.ID, e.Payload, asIs)
		if id, there := shown[at]; there && id != e.ID {
			t.Errorf("event %d of fact %d is %x, the occurrence there %x", i, fact.Sequence, e.ID, id)
		}
		delete(shown, at)
	})
	return events
}
