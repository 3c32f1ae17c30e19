//go:build clients

package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/native"
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

// Of so many occurrences with a payload, one is asked for it.
const payloadsOf = 100

// sightings compares the occurrences of all records with the model.
type sightings struct {
	*scenario
	rules ingest.Rules
	// shown counts the occurrences, checked the payloads that were compared, purged
	// those that are not on the log any more.
	shown, checked, purged int
}

// compareOccurrences compares every occurrence of every record with the model, and
// some of their payloads with what the receiver makes of the same event.
func (s *scenario) compareOccurrences(t *testing.T) {
	t.Helper()
	began := time.Now()
	c := &sightings{scenario: s}
	for _, l := range s.list(t, question{}, "id") {
		if kept := s.books.records[l.key()]; kept != nil {
			c.record(t, &l, kept)
		}
	}
	if c.checked == 0 {
		t.Error("no payload was compared")
	}
	t.Logf("%d occurrences compared, %d payloads; %d payloads are purged; in %v", c.shown, c.checked, c.purged, time.Since(began).Round(time.Millisecond))
}

// record compares the occurrences of a record: their numbers have no gap, each has
// its own event, and together they are those of the model.
func (c *sightings) record(t *testing.T, l *line, kept *kept) {
	t.Helper()
	all := c.occurrences(t, l)
	ids := map[string]bool{}
	deployments, hours := map[string]tally{}, map[int64]uint64{}
	for i, o := range all {
		if want := kept.count - uint64(i); o.Number != want || i > 0 && o.Position >= all[i-1].Position {
			t.Errorf("%s: occurrence %d from the end of %d has number %d and position %d", kept.message(), i, kept.count, o.Number, o.Position)
			return
		}
		if ids[o.EventID] {
			t.Errorf("%s: the event %s occurred twice", kept.message(), o.EventID)
		}
		ids[o.EventID] = true
		name := o.Environment + " " + o.Release
		sum := deployments[name]
		sum.add(o.Time.UnixMilli())
		deployments[name] = sum
		hours[o.Time.UnixMilli()/millisPerHour]++
		c.event(t, kept, &o)
		c.payload(t, l, i, &o)
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
	for {
		from := c.unchecked
		if len(all) == 0 {
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

// payload compares the payload of some occurrences, and of the latest and the first
// of each record, which are never purged.
func (c *sightings) payload(t *testing.T, l *line, i int, o *occurrence) {
	t.Helper()
	ends := i == 0 || o.Number == 1
	if ends && !o.PayloadAvailable {
		t.Errorf("%s: the payload of occurrence %d of %d is gone", l.Class, o.Number, l.Count)
	}
	if !o.PayloadAvailable {
		c.purged++
		return
	}
	e, ok := c.planned(o.EventID)
	if !ok || !ends && (c.shown+i)%payloadsOf != 0 {
		return
	}
	var shown occurrence
	c.unchecked.GetData(t, fmt.Sprintf("%s/%s/occurrences/%d?type=%s", listPath, l.Signature, o.Position, l.Type), &shown)
	document, err := json.Marshal(e.document())
	if err != nil {
		t.Fatal(err)
	}
	draft, err := native.ParseEvent(document)
	if err != nil {
		t.Fatal(err)
	}
	made, refused := c.rules.Event(&draft, ingest.Source{Project: l.ProjectID, Received: c.plan.base}, errata.EventID{})
	if refused != nil {
		t.Fatal(refused)
	}
	if !bytes.Equal(made.Payload, shown.Payload) {
		t.Errorf("%s, occurrence %d:\ngot  %s\nwant %s", l.Class, o.Number, shown.Payload, made.Payload)
	}
	c.checked++
}
