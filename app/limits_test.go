package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/errata-log/errata/datadir"
)

// TestBudgetOfNewRecords: beyond new-records-per-hour new problems are counted
// together, over a restart too, which puts nothing more on the log.
func TestBudgetOfNewRecords(t *testing.T) {
	o := testOptions(t)
	o.NewRecordsPerHour = 3
	for start := range 2 {
		a := build(t, o)
		stop := run(t, a)
		ingest := key(t, filepath.Join(o.Data, datadir.IngestKeyFile))
		for n := range 10 {
			body := fmt.Sprintf(`{"id":"%d-%d","message":"problem %s","exception_class":"FloodError","fingerprint":["%d-%d"]}`, start, n, strings.Repeat("x", n), start, n)
			if status, answer := request(t, http.MethodPost, a.Welcome().URL+"/api/v1/events", ingest, body); status != http.StatusAccepted {
				t.Fatalf("event %d: %d %s", n, status, answer)
			}
		}
		want := uint64(10 * (start + 1))
		rows := awaitRecords(t, a, func(rows []row) bool {
			var sum uint64
			for _, r := range rows {
				sum += r.Count
			}
			return sum == want
		})
		// Three more when an hour ends in between.
		if full := len(rows) == 4 || len(rows) == 7 || len(rows) == 10; !full {
			t.Errorf("%d records, want 3 and one of overflow: %+v", len(rows), rows)
		}
		overflow := 0
		for _, r := range rows {
			if r.Overflow {
				overflow++
				if r.Count < 4 || r.ExceptionClass != "FloodError" || !strings.HasPrefix(r.MessagePreview, "New problems of the class FloodError, counted together") {
					t.Errorf("the overflow record: %+v", r)
				}
			}
		}
		if overflow != 1 {
			t.Errorf("%d overflow records: %+v", overflow, rows)
		}
		if entries := trail(t, a, "action=settings.limits"); len(entries) != 1 || entries[0].Actor.KeyID != "service" {
			t.Errorf("start %d: the limit is on the log as %+v, want once by the service", start, entries)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLimitOfAKey: a key that sends more than its limit is refused, and the metrics
// show it.
func TestLimitOfAKey(t *testing.T) {
	o := testOptions(t)
	o.KeyEventsPerMinute = 6 // one at once
	a := build(t, o)
	run(t, a)
	url, ingest := a.Welcome().URL, key(t, filepath.Join(o.Data, datadir.IngestKeyFile))
	want := http.StatusAccepted
	for range 3 {
		if status, body := request(t, http.MethodPost, url+"/api/v1/events", ingest, `{"message":"again"}`); status != want {
			t.Fatalf("%d %s, want %d", status, body, want)
		}
		want = http.StatusTooManyRequests
	}
	if status, body := request(t, http.MethodPost, url+"/v1/logs", ingest, oneLog); status != want {
		t.Errorf("the same key at another door: %d %s", status, body)
	}
	awaitMetric(t, a, `errata_refused_events_total{project="1",reason="key_limit"} 3`)
	body := opsStatus(t, a)
	var status struct {
		Data struct {
			Figures struct {
				Refused *uint64 `json:"refused_by_limit"`
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &status); err != nil || status.Data.Figures.Refused == nil || *status.Data.Figures.Refused != 3 {
		t.Errorf("figures: %s (%v)", body, err)
	}
}

// TestSettingsOfAProject: its own limits and its noise rules act on events that come
// after the change, and a replay gives the same records.
func TestSettingsOfAProject(t *testing.T) {
	a := build(t, testOptions(t))
	run(t, a)
	url, admin := a.Welcome().URL, key(t, a.Welcome().AdminKeyFile)
	ingest := key(t, a.Welcome().IngestKeyFile)
	patch := func(body string) {
		t.Helper()
		if status, answer := request(t, http.MethodPatch, url+"/api/v1/admin/projects/1", admin, body); status != http.StatusOK {
			t.Fatalf("%s: %d %s", body, status, answer)
		}
	}
	send := func(class string, want int) {
		t.Helper()
		body := fmt.Sprintf(`{"message":"it broke","exception_class":%q}`, class)
		if status, answer := request(t, http.MethodPost, url+"/api/v1/events", ingest, body); status != want {
			t.Fatalf("%s: %d %s, want %d", class, status, answer, want)
		}
	}
	if status, body := get(t, url+"/api/v1/admin/noise-sets", admin); status != http.StatusOK || !strings.Contains(body, `"key":"crawlers"`) {
		t.Errorf("ready sets: %d %s", status, body)
	}
	patch(`{"noise":[{"field":"class","match":"Drop*","action":"drop"},{"field":"class","match":"mute","action":"mute"},{"field":"class","match":"mark","action":"noise"},
		{"set":"cancelled-requests","action":"drop"}],"limits":{"new_records_per_hour":3}}`)
	for _, class := range []string{"DropThis", "MuteThis", "MarkThis", "AbortError", "Plain"} {
		send(class, http.StatusAccepted)
	}
	awaitMetric(t, a, `errata_refused_events_total{project="1",reason="noise_rule"} 2`)
	rows := awaitRecords(t, a, func(rows []row) bool { return len(rows) == 3 })
	for _, r := range rows {
		if want := map[string]string{"MuteThis": "muted", "MarkThis": "open", "Plain": "open"}[r.ExceptionClass]; r.Status != want {
			t.Errorf("%s is %q, want %q", r.ExceptionClass, r.Status, want)
		}
	}
	if _, body := get(t, url+"/api/v1/admin/tools/logs/errors?hide_noise=1", admin); !strings.Contains(body, `"Plain"`) || strings.Contains(body, `This"`) {
		t.Errorf("hide_noise: %s", body)
	}
	send("FourthThis", http.StatusAccepted)
	awaitRecords(t, a, func(rows []row) bool {
		for _, r := range rows {
			if r.Overflow && r.ExceptionClass == "FourthThis" {
				return true
			}
		}
		return false
	})
	patch(`{"limits":{"events_per_minute":1}}`)
	status := 0
	for range 3 { // one is taken, whose event empties the bucket
		status, _ = request(t, http.MethodPost, url+"/api/v1/events", ingest, `{"message":"it broke","exception_class":"Plain"}`)
	}
	if status != http.StatusTooManyRequests {
		t.Errorf("over the project's own limit: %d", status)
	}
	patch(`{"limits":{"events_per_minute":0}}`)
	send("Plain", http.StatusAccepted)
	if status, answer := request(t, http.MethodPost, url+"/api/v1/admin/ops/replay", admin, ""); status != http.StatusOK || !strings.Contains(answer, `"differences":[]`) {
		t.Errorf("replay: %d %s", status, answer)
	}
}
