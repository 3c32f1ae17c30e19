package contract

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
)

// TestCounting: a record is one problem with all its events. Repeats raise its
// count, its level and its last sighting, and change nothing else. The books and an event's
// own id keep events apart or together.
func TestCounting(t *testing.T) {
	t.Parallel()
	s := start(t)
	e := trial("system", "first words")
	e.Fingerprint = []string{"one"}
	at := s.now.Add(-time.Hour)
	s.send(t, e.at(at))
	s.settle(t)
	path := errorsPath + "/" + e.signature().String()
	was := s.get(t, path)

	other := event{Book: "system", Level: "fatal", Message: "other words", Class: "Other", File: "other.go", Line: 9, URI: "/other", Method: "PUT",
		UserID: json.RawMessage("9"), IP: "::9", Fingerprint: e.Fingerprint, Payload: map[string]any{"sighting": 2}}
	s.send(t, other.at(s.now), other.at(at.Add(-time.Hour)))
	s.settle(t)
	want := strings.NewReplacer(`"count":1`, `"count":3`, `"users":0`, `"users":1`, `"level":"error"`, `"level":"fatal"`, `"first_seen":"`+instant(at), `"first_seen":"`+instant(at.Add(-time.Hour)),
		`"last_seen":"`+instant(at), `"last_seen":"`+instant(s.now)).Replace(was)
	if diff := cmp.Diff(want, s.get(t, path)); diff != "" || want == was {
		t.Errorf("a repeat changes the record (-want +got):\n%s", diff)
	}

	// The same problem in the other book is another record.
	other.Book = "database"
	s.send(t, other)
	s.settle(t)
	s.want(t, request{method: http.MethodGet, path: path}, want)
	if e.signature() == other.signature() {
		t.Error("both books have one signature")
	}
	if got, there := s.detail(t, other); !there || got.Count != 1 {
		t.Errorf("database: %+v, %t", got, there)
	}

	// One event counts once, however often it arrives.
	once := trial("system", "once")
	once.ID = "8d1f6f0e-32fb-4c39-a1ad-2c0b5e4c1a11"
	s.send(t, once, once)
	s.send(t, once)
	s.settle(t)
	if got, _ := s.detail(t, once); got.Count != 1 {
		t.Errorf("an event that came three times counts %d times", got.Count)
	}
}

// TestLevelIsTheHighest: the level of a record is the highest of all its events.
// Lists find the record by that level alone. A status keeps the level, and a record
// that is seen again after a delete begins anew.
func TestLevelIsTheHighest(t *testing.T) {
	t.Parallel()
	s := start(t)
	e, mild := trial("system", "gets worse"), trial("database", "stays mild")
	mild.Level = "notice"
	at := func(level string) event { e.Level = level; return e }
	want := func(level string) {
		t.Helper()
		s.settle(t)
		for _, name := range errata.Levels {
			found := ""
			if name == level {
				found = "gets worse"
			}
			s.wantNames(t, "types=system&levels="+name, found)
		}
		if row := s.get(t, errorsPath+"/"+e.signature().String()); !strings.Contains(row, `"level":"`+level+`"`) {
			t.Errorf("the detail has another level than %s: %s", level, row)
		}
	}
	s.send(t, mild, at("info"))
	want("info")
	s.wantNames(t, "hide_noise=1", "")
	s.send(t, slices.Repeat([]event{at("fatal")}, 10)...)
	want("fatal")
	s.wantNames(t, "hide_noise=1", "gets worse")
	if most := s.get(t, errorsPath+"?order=level&direction=desc&limit=1"); !strings.Contains(most, "gets worse") {
		t.Errorf("the highest level is that of %s", most)
	}
	s.send(t, at("debug"), at("error"))
	want("fatal")
	signature := e.signature().String()
	s.move(t, "resolved", "resolved", 1, signature)
	s.send(t, at("warning"))
	want("fatal")
	if f, _ := s.detail(t, e); f.Count != 14 || !f.Regressed {
		t.Errorf("%+v, want 14 events and regressed", f)
	}
	s.replayed(t, 1)
	want("fatal")
	s.remove(t, 1, signature)
	s.send(t, at("warning"), at("notice"))
	want("warning")
}

// TestAdjustedTimes: a time that is too old, in the future or no time becomes the
// time of receipt, and the answer says so; a believed one stays to the millisecond.
// Times are believed for as long as the project keeps records.
func TestAdjustedTimes(t *testing.T) {
	t.Parallel()
	s := start(t)
	e := func(name, at string) event {
		e := trial("system", name)
		e.Time = at
		return e
	}
	oldest := s.oldest()
	events := []event{
		e("believed", instant(s.now.Add(-time.Hour))), e("soon", "soon"), e("oldest", instant(oldest)), e("older", instant(oldest.Add(-time.Millisecond))),
		e("later", instant(s.now.Add(time.Millisecond))), e("none", ""), e("zero", "0001-01-01T00:00:00Z"),
	}
	s.send(t, events...) // which compares the answer
	if told, want := s.adjusted(events), `[{"index":1,"field":"time","reason":"unreadable"},{"index":3,"field":"time","reason":"too_old"},`+
		`{"index":4,"field":"time","reason":"in_future"},{"index":6,"field":"time","reason":"too_old"}]`; told != want {
		t.Errorf("the test expects %s, want %s", told, want)
	}
	s.settle(t)
	for i, at := range []time.Time{s.now.Add(-time.Hour), s.now, oldest, s.now, s.now, s.now, s.now} {
		if f, _ := s.detail(t, events[i]); f.FirstSeen != instant(at) || f.LastSeen != instant(at) {
			t.Errorf("%s: %s to %s, want %s", events[i].Message, f.FirstSeen, f.LastSeen, instant(at))
		}
	}
	s.want(t, request{method: http.MethodPatch, path: projectsPath + "/1", body: `{"retention_days":400}`}, "")
	s.retention = 400
	oldest = s.oldest()
	events = []event{e("oldest of 400 days", instant(oldest)), e("older than 400 days", instant(oldest.Add(-time.Millisecond)))}
	s.send(t, events...)
	s.settle(t)
	for i, at := range []time.Time{oldest, s.now} {
		if f, _ := s.detail(t, events[i]); f.FirstSeen != instant(at) || f.LastSeen != instant(at) {
			t.Errorf("%s: %s to %s, want %s", events[i].Message, f.FirstSeen, f.LastSeen, instant(at))
		}
	}
	// The index is that in the request, also beside events that are refused.
	lines := `{"file":"nothing to say"}` + "\n" + `{"message":"a","time":"soon"}` + "\n" + `{"message":"b","level":"loud","time":"soon"}` + "\n" + `{"message":"c","time":99999999999}`
	a := s.do(t, request{method: http.MethodPost, path: eventsPath, body: lines, key: s.Ingest})
	if want := `"adjusted":[{"index":1,"field":"time","reason":"unreadable"},{"index":3,"field":"time","reason":"in_future"}]`; a.status != http.StatusAccepted || !strings.Contains(a.body, want) || !strings.Contains(a.body, `"accepted":2`) {
		t.Errorf("%d %s, want %s", a.status, a.body, want)
	}
}

// TestTrend: the trend of a new record adds up to its count, and its buckets have
// no gap.
func TestTrend(t *testing.T) {
	t.Parallel()
	s := start(t)
	e := trial("database", "trend")
	for _, ago := range []time.Duration{0, 0, time.Minute, 2 * time.Hour, 20 * time.Hour} {
		s.send(t, e.at(s.now.Add(-ago)))
	}
	s.settle(t)
	record, _ := s.detail(t, e)
	for _, c := range []struct {
		rest, name, step string
		buckets          int
	}{
		{"", "24h", "hour", 24}, {"&range=24H", "24h", "hour", 24}, {"&range=7d", "7d", "hour", 168}, {"&range=2w", "2w", "day", 14}, {"&range=400d", "400d", "day", 400},
	} {
		var trend struct {
			Signature, Type, Range, Step, From, To string
			Total                                  int
			Buckets                                []struct {
				Time  time.Time
				Count int
			}
		}
		text := s.get(t, errorsPath+"/"+record.Signature+"/trend?type=database"+c.rest)
		if err := json.Unmarshal([]byte(text), &trend); err != nil {
			t.Fatal(err)
		}
		sum := 0
		step := map[string]time.Duration{"hour": time.Hour, "day": 24 * time.Hour}[trend.Step]
		for i, b := range trend.Buckets {
			sum += b.Count
			if i > 0 && b.Time.Sub(trend.Buckets[i-1].Time) != step {
				t.Errorf("%s: bucket %d begins at %v, not a step behind the one before", c.rest, i, b.Time)
			}
		}
		if record.Count != 5 || trend.Total != record.Count || sum != record.Count || trend.Signature != record.Signature || trend.Type != "database" {
			t.Errorf("%s: %s, want the %d sightings of the record", c.rest, text, record.Count)
		}
		if trend.Range != c.name || trend.Step != c.step || len(trend.Buckets) != c.buckets {
			t.Errorf("%s: range %s in %d steps of a %s, want %+v", c.rest, trend.Range, len(trend.Buckets), trend.Step, c)
		}
	}
	for _, bad := range []string{"soon", "0h", "30m", "401d", "7"} {
		s.refused(t, request{method: http.MethodGet, path: errorsPath + "/" + record.Signature + "/trend?type=database&range=" + bad},
			http.StatusUnprocessableEntity, "invalid_range", bad, "24h")
	}
	s.refused(t, request{method: http.MethodGet, path: errorsPath + "/" + record.Signature + "/trend"}, http.StatusNotFound, "not_found", "book")
}

// TestReleaseEnvironmentAndTags: what a native event says about them stands in the
// context, scrubbed and cut, beside its own payload. The payload has them for senders
// that know no such fields.
func TestReleaseEnvironmentAndTags(t *testing.T) {
	t.Parallel()
	s := start(t)
	long := strings.Repeat("r", 300)
	for name, c := range map[string]struct{ sent, want string }{
		"fields": {`"release":"1.4.2","environment":"production","tags":{"feature":"checkout","n":7,"beta":true,"none":null,"list":[1],"api_key":"s3cret-of-mine"}`,
			`{"release":"1.4.2","environment":"production","tags":{"feature":"checkout","n":"7","beta":"true","api_key":"[Filtered]"}}`},
		"payload":    {`"payload":{"release":"1.4.2","environment":"test"}`, `{"release":"1.4.2","environment":"test","extra":{"release":"1.4.2","environment":"test"}}`},
		"both":       {`"release":"own","payload":{"release":"1.4.2"}`, `{"release":"own","extra":{"release":"1.4.2"}}`},
		"other type": {`"release":{"a":1},"environment":[],"tags":["a"]`, `{}`},
		"long":       {`"release":"` + long + `"`, `{"release":"` + long[:256-len("…")] + `…"}`},
		"secret":     {`"release":"password=hunter2hunter2"`, `{"release":"password=[Filtered]"}`},
	} {
		e := event{Book: "system", Fingerprint: []string{name}}
		a := s.do(t, request{method: http.MethodPost, path: eventsPath, key: s.Ingest, body: `{"type":"system","message":"it broke","fingerprint":["` + name + `"],` + c.sent + `}`})
		if a.status != http.StatusAccepted {
			t.Fatalf("%s: %d %s", name, a.status, a.body)
		}
		s.settle(t)
		var detail struct{ Payload map[string]any }
		if err := json.Unmarshal([]byte(s.get(t, errorsPath+"/"+e.signature().String())), &detail); err != nil {
			t.Fatal(err)
		}
		for _, known := range []string{"source", "message", "event_id"} {
			delete(detail.Payload, known)
		}
		var want map[string]any
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, detail.Payload); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
