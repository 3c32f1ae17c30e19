//go:build clients

package clients

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
)

// occurrence is one as the service shows it.
type occurrence struct {
	Number           uint64          `json:"number"`
	Position         uint64          `json:"position"`
	EventID          string          `json:"event_id"`
	Time             time.Time       `json:"time"`
	Environment      string          `json:"environment"`
	Release          string          `json:"release"`
	Level            string          `json:"level"`
	PayloadAvailable bool            `json:"payload_available"`
	Payload          json.RawMessage `json:"payload"`
}

// Of so many occurrences with a payload, one is asked for it. All that are on the log are
// compared there, see [scenario.compareLog].
const payloadsOf = 20

// Of so many records, one has an answer compared with the OpenAPI document.
const checkedOf = 8

// occurrenceReaders read occurrences at the same time: each mostly waits.
const occurrenceReaders = 4

// sightings compares the occurrences of all records with the model.
type sightings struct {
	*scenario
	log    logState
	purges []purge
	// shown counts the occurrences, checked the payloads that were compared, kept those
	// that are not on the log any more but beside the records, purged those that are gone.
	shown, checked, kept, purged int
	records                      int // so far
	// onLog are the events of the occurrences that are on the log, by position.
	onLog map[uint64]errata.EventID
}

// compareOccurrences compares every occurrence of every record with the model, and
// some of their payloads with what the receivers make of the same requests. It returns
// the events of those that are on the log, by position.
func (s *scenario) compareOccurrences(t *testing.T) map[uint64]errata.EventID {
	t.Helper()
	began := time.Now()
	log, purges := s.rest(t)
	c := &sightings{onLog: map[uint64]errata.EventID{}}
	lines := s.list(t, question{}, "id")
	readers := make([]*sightings, occurrenceReaders)
	var all sync.WaitGroup
	for i := range readers {
		readers[i] = &sightings{scenario: s, log: log, purges: purges, onLog: map[uint64]errata.EventID{}}
		all.Go(func() {
			for n := i; n < len(lines); n += len(readers) {
				if kept := s.books.records[lines[n].key()]; kept != nil {
					readers[i].record(t, &lines[n], kept)
				}
			}
		})
	}
	all.Wait()
	for _, r := range readers {
		c.shown, c.checked, c.kept, c.purged = c.shown+r.shown, c.checked+r.checked, c.kept+r.kept, c.purged+r.purged
		maps.Copy(c.onLog, r.onLog)
	}
	if after := s.verify(t); after.First != log.First {
		t.Errorf("the log was purged meanwhile: it began at %d, now at %d", log.First, after.First)
	}
	t.Logf("%d occurrences compared, %d payloads; %d payloads are on the log, %d beside the records, %d gone; in %v",
		c.shown, c.checked, len(c.onLog), c.kept, c.purged, time.Since(began).Round(time.Millisecond))
	return c.onLog
}

// record compares the occurrences of a record: their numbers have no gap, each has
// its own event, and together they are those of the model.
func (c *sightings) record(t *testing.T, l *line, kept *kept) {
	t.Helper()
	all := c.occurrences(t, l)
	latest := keptLatest(all, c.purges)
	ids := map[string]int{}
	deployments, hours := map[string]tally{}, map[int64]uint64{}
	for i, o := range all {
		if want := kept.count - uint64(i); o.Number != want || i > 0 && o.Position >= all[i-1].Position {
			t.Errorf("%s: occurrence %d from the end of %d has number %d and position %d", kept.message(), i, kept.count, o.Number, o.Position)
			return
		}
		if ids[o.EventID]++; ids[o.EventID] > 1 && (!c.twice[o.EventID] || ids[o.EventID] > 2) {
			t.Errorf("%s: the event %s occurred %d times", kept.message(), o.EventID, ids[o.EventID])
		}
		name := o.Environment + " " + o.Release
		sum := deployments[name]
		sum.add(o.Time.UnixMilli())
		deployments[name] = sum
		hours[o.Time.UnixMilli()/millisPerHour]++
		c.event(t, kept, &o)
		c.payload(t, l, i, &o, latest)
	}
	c.shown += len(all)
	want := map[string]tally{}
	for at, sum := range kept.deployments {
		want[at.environment+" "+at.release] = *sum
	}
	for name := range want {
		if got := deployments[name]; got != want[name] {
			t.Errorf("%s in %s: %+v, want %+v", kept.message(), name, got, want[name])
		}
	}
	if len(all) != int(kept.count) || len(deployments) != len(want) || !maps.Equal(hours, kept.hours) {
		t.Errorf("%s: %d occurrences of %d, in %v and not %v, or in other hours", kept.message(), len(all), kept.count, deployments, want)
	}
}

// occurrences are all of a record, the newest first.
func (c *sightings) occurrences(t *testing.T, l *line) (all []occurrence) {
	t.Helper()
	values := url.Values{"type": {l.Type}, "limit": {"100"}}
	c.records++
	for {
		from := c.unchecked
		if len(all) == 0 && c.records%checkedOf == 0 {
			from = c.Service
		}
		body := from.Get(t, listPath+"/"+l.Signature+"/occurrences?"+values.Encode())
		var answer struct {
			Data []occurrence `json:"data"`
			Meta struct {
				NextCursor uint64 `json:"next_cursor"`
			} `json:"meta"`
		}
		if err := json.Unmarshal([]byte(body), &answer); err != nil {
			t.Fatalf("%v in %.1000s", err, body)
		}
		all = append(all, answer.Data...)
		if answer.Meta.NextCursor == 0 {
			return all
		}
		values.Set("cursor", strconv.FormatUint(answer.Meta.NextCursor, 10))
	}
}

// planned is the event of the plan with this id; only native events have ids of the
// plan. ok is false for another id, and for the last words, which are changed.
func (s *scenario) planned(id string) (e planned, ok bool) {
	var client, phase, n int
	if count, err := fmt.Sscanf(id, "c1%02x%02x%026x", &client, &phase, &n); err != nil || count != 3 {
		return planned{}, false
	}
	if planClient(client) != byNative || phase >= planPhases || n >= s.plan.shares[byNative] {
		return planned{}, false
	}
	e = s.plan.event(byNative, phase, n)
	return e, e.ID == id
}

// event compares an occurrence with its event of the plan.
func (c *sightings) event(t *testing.T, kept *kept, o *occurrence) {
	t.Helper()
	e, ok := c.planned(o.EventID)
	if !ok {
		return
	}
	if e.key() != kept.problemKey || e.Environment != o.Environment || e.Release != o.Release || e.Level != o.Level || !e.time().Equal(o.Time) {
		t.Errorf("%s: %+v is not %+v", kept.message(), o, e)
	}
}

// payload compares the payload of some occurrences, and of the first and the latest of
// each record. There is one for those that are on the log, those two, and the one that was
// copied before a purge, which may have been followed by later ones.
func (c *sightings) payload(t *testing.T, l *line, i int, o *occurrence, copied uint64) {
	t.Helper()
	onLog := errata.Position(o.Position).Sequence() >= c.log.First
	ends := i == 0 || o.Number == 1
	if want := onLog || ends || o.Position == copied; o.PayloadAvailable != want {
		t.Errorf("%s: occurrence %d of %d, at %d: payload_available is %v; the log begins at %d, copied was %d",
			l.Class, o.Number, l.Count, o.Position, o.PayloadAvailable, c.log.First, copied)
	}
	id := ingest.EventID(l.ProjectID, o.EventID)
	switch {
	case !o.PayloadAvailable:
		c.purged++
		return
	case onLog:
		c.onLog[o.Position] = id
	default:
		c.kept++
	}
	if onLog && !ends && (len(c.onLog)+i)%payloadsOf != 0 {
		return
	}
	var shown occurrence
	c.unchecked.GetData(t, fmt.Sprintf("%s/%s/occurrences/%d?type=%s", listPath, l.Signature, o.Position, l.Type), &shown)
	c.recorder.doors.compare(t, fmt.Sprintf("%s, occurrence %d", l.Class, o.Number), id, shown.Payload, json.HTMLEscape)
	c.checked++
}
