package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// occurrence is an occurrence in an answer.
type occurrence struct {
	Number      uint64
	Position    uint64
	EventID     string `json:"event_id"`
	Environment string
	Available   bool `json:"payload_available"`
	Payload     struct {
		Message string
		Extra   map[string]any
	}
	Previous, Next *uint64
}

// occurrencePage is a page of them.
type occurrencePage struct {
	Data []occurrence
	Meta struct {
		Next  uint64 `json:"next_cursor"`
		Count uint64
	}
}

func (s *service) occurrences(t *testing.T, path string) (page occurrencePage) {
	t.Helper()
	a := s.do(t, request{method: http.MethodGet, path: path})
	if err := json.Unmarshal([]byte(a.body), &page); err != nil || a.status != http.StatusOK {
		t.Fatalf("%s: %d %.1000s, %v", path, a.status, a.body, err)
	}
	return page
}

func (s *service) occurrence(t *testing.T, path string) (one occurrence) {
	t.Helper()
	if err := json.Unmarshal([]byte(s.get(t, path)), &one); err != nil {
		t.Fatal(err)
	}
	return one
}

// TestOccurrencesOfARecord: each event is there as soon as its record counts it, with
// its own context and its neighbours; a delete takes them along.
func TestOccurrencesOfARecord(t *testing.T) {
	t.Parallel()
	s := start(t)
	const times = 30
	e, other := trial("system", "occurs"), trial("system", "beside")
	for i := range times {
		e.Payload = map[string]any{"turn": i}
		s.send(t, e, other)
	}
	s.settle(t)
	path := errorsPath + "/" + e.signature().String() + "/occurrences"

	var all []occurrence
	for cursor, pages := "", 0; pages < 4; pages++ {
		page := s.occurrences(t, path+"?limit=12"+cursor)
		if page.Meta.Count != times {
			t.Fatalf("the record has %d, want %d", page.Meta.Count, times)
		}
		all = append(all, page.Data...)
		if page.Meta.Next == 0 {
			break
		}
		cursor = fmt.Sprintf("&cursor=%d", page.Meta.Next)
	}
	if len(all) != times {
		t.Fatalf("%d occurrences on all pages, want %d", len(all), times)
	}
	for i, o := range all {
		if o.Number != uint64(times-i) || !o.Available || i > 0 && o.Position >= all[i-1].Position {
			t.Fatalf("occurrence %d is %+v", i, o)
		}
		if i%7 == 0 {
			s.findsOccurrence(t, e, all, i)
		}
	}
	if first, latest := s.occurrence(t, path+"/first"), s.occurrence(t, path+"/latest"); first.Number != 1 || latest.Number != times {
		t.Errorf("first is %+v, latest %+v", first, latest)
	}

	s.want(t, request{method: http.MethodDelete, path: errorsPath, body: signaturesBody(e.signature().String())}, `{"count":1,"deleted":true}`)
	for _, path := range []string{path, path + "/latest", fmt.Sprintf("%s/%d", path, all[3].Position), errorsPath + "/" + e.signature().String() + "/facets", "/api/v1/admin/tools/logs/occurrences/" + all[3].EventID} {
		s.refused(t, request{method: http.MethodGet, path: path}, http.StatusNotFound, "not_found")
	}
	if list := s.get(t, errorsPath+"?event_id="+all[3].EventID); list != "[]" {
		t.Errorf("the deleted record is found: %s", list)
	}
	s.send(t, e)
	s.settle(t)
	if again := s.occurrences(t, path); len(again.Data) != 1 || again.Data[0].Number != 1 {
		t.Errorf("the new record has %+v", again)
	}
}

// findsOccurrence reads an occurrence by its position and by its event id.
func (s *service) findsOccurrence(t *testing.T, e event, all []occurrence, i int) {
	t.Helper()
	o, times := all[i], len(all)
	one := s.occurrence(t, fmt.Sprintf("%s/%s/occurrences/%d", errorsPath, e.signature(), o.Position))
	turn, _ := one.Payload.Extra["turn"].(float64)
	if one.Number != o.Number || int(turn) != times-1-i || (one.Next == nil) != (i == 0) || (one.Previous == nil) != (i == times-1) ||
		one.Next != nil && *one.Next != all[i-1].Position || one.Previous != nil && *one.Previous != all[i+1].Position {
		t.Errorf("occurrence %d by its position is %+v", i, one)
	}
	var found struct {
		Record     struct{ Signature string }
		Occurrence occurrence
	}
	if err := json.Unmarshal([]byte(s.get(t, "/api/v1/admin/tools/logs/occurrences/"+strings.ToUpper(o.EventID))), &found); err != nil {
		t.Fatal(err)
	}
	if found.Record.Signature != e.signature().String() || found.Occurrence.Position != o.Position {
		t.Errorf("the event id of occurrence %d finds %+v", i, found)
	}
	for _, query := range []string{"?event_id=", "?search="} {
		if list := s.get(t, errorsPath+query+o.EventID); strings.Count(list, `"signature"`) != 1 || !strings.Contains(list, e.signature().String()) {
			t.Errorf("the list by the event id of occurrence %d: %s", i, list)
		}
	}
}

// TestFacetsOfARecord counts environments and releases of every occurrence.
func TestFacetsOfARecord(t *testing.T) {
	t.Parallel()
	s := start(t)
	for i, where := range []string{"production", "staging", "production", "production"} {
		body := body("message", "facets", "fingerprint", []string{"facets"}, "environment", where, "release", fmt.Sprintf("shop@1.%d", i%2))
		if a := s.do(t, request{method: http.MethodPost, path: eventsPath, key: s.Ingest, body: body}); a.status != http.StatusAccepted {
			t.Fatalf("send: %d %s", a.status, a.body)
		}
	}
	s.settle(t)
	var list []struct{ Signature string }
	if err := json.Unmarshal([]byte(s.get(t, errorsPath)), &list); err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	path := errorsPath + "/" + list[0].Signature
	var facets struct {
		Environments, Releases []struct {
			Value string
			Count uint64
		}
	}
	if err := json.Unmarshal([]byte(s.get(t, path+"/facets")), &facets); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(facets), "{[{production 3} {staging 1}] [{shop@1.0 2} {shop@1.1 2}]}"; got != want {
		t.Errorf("facets %s, want %s", got, want)
	}
	s.checkReleaseTrend(t, path)
	if page := s.occurrences(t, path+"/occurrences?environment=staging&release=shop@1.1"); len(page.Data) != 1 || page.Data[0].Number != 2 {
		t.Errorf("of one environment: %+v", page)
	}
	if page := s.occurrences(t, path+"/occurrences?release=shop@1.1&environment=prod*"); len(page.Data) != 1 || page.Data[0].Number != 4 {
		t.Errorf("of a release: %+v", page)
	}
}

// checkReleaseTrend compares the trend of the record by release with the plain one.
func (s *service) checkReleaseTrend(t *testing.T, path string) {
	t.Helper()
	type counts struct {
		Value  string
		Count  int
		Counts []int
	}
	var by struct {
		Total    int
		Counts   []int
		Releases []counts
		Others   counts
		NotKept  counts `json:"not_kept"`
	}
	if err := json.Unmarshal([]byte(s.get(t, path+"/trend/releases?range=7d")), &by); err != nil {
		t.Fatal(err)
	}
	var plain struct{ Buckets []struct{ Count int } }
	if err := json.Unmarshal([]byte(s.get(t, path+"/trend?range=7d")), &plain); err != nil {
		t.Fatal(err)
	}
	for i, bucket := range plain.Buckets {
		if by.Counts[i] != bucket.Count || by.Releases[0].Counts[i]+by.Releases[1].Counts[i] != bucket.Count {
			t.Errorf("step %d: %+v, want %d", i, by, bucket.Count)
		}
	}
	if by.Total != 4 || len(by.Releases) != 2 || by.Releases[0].Value != "shop@1.0" || by.Releases[0].Count != 2 || by.Others.Count+by.NotKept.Count != 0 {
		t.Errorf("by release: %+v", by)
	}
	s.refused(t, request{method: http.MethodGet, path: path + "/trend/releases?range=soon"}, http.StatusUnprocessableEntity, "invalid_range", "soon")
}
