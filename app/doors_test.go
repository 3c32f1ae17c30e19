package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/datadir"
)

// door sends one error of the class that happened at the time.
type door struct {
	name string
	send func(class string, at time.Time)
}

// doors are all ways into the service. It takes what is published to NATS.
func doors(t *testing.T, a *app.App, data string) []door {
	t.Helper()
	url, keys, js := a.Welcome().URL, keyFiles(t, data), publisher(t, a)
	post := func(path, key, body string) {
		t.Helper()
		if status, answer := request(t, http.MethodPost, url+path, key, body); status >= 300 {
			t.Fatalf("%s: %d %s", path, status, answer)
		}
	}
	native := func(class string, at time.Time) string {
		return fmt.Sprintf(`{"message":"it broke","exception_class":%q,"time":%q}`, class, at.Format(time.RFC3339Nano))
	}
	public := strings.TrimPrefix(keys[datadir.DSNFile][:strings.Index(keys[datadir.DSNFile], "@")], "http://")
	return []door{
		{"native", func(class string, at time.Time) {
			post("/api/v1/events", keys[datadir.IngestKeyFile], native(class, at))
		}},
		{"sentry", func(class string, at time.Time) {
			const event = `{"timestamp":%q,"exception":{"values":[{"type":%q,"value":"it broke"}]}}`
			post("/api/1/envelope/?sentry_key="+public, "", "{}\n{\"type\":\"event\"}\n"+fmt.Sprintf(event, at.Format(time.RFC3339Nano), class))
		}},
		{"otlp", func(class string, at time.Time) {
			const export = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"severityNumber":17,"timeUnixNano":"%d","attributes":[` +
				`{"key":"exception.type","value":{"stringValue":%q}},{"key":"exception.message","value":{"stringValue":"it broke"}}]}]}]}]}`
			post("/v1/logs", keys[datadir.IngestKeyFile], fmt.Sprintf(export, at.UnixNano(), class))
		}},
		{"nats", func(class string, at time.Time) {
			if _, err := js.Publish(t.Context(), "errors.v1.system", []byte(native(class, at))); err != nil {
				t.Fatal(err)
			}
		}},
	}
}

// TestEveryDoorFollowsTheProject: whichever way an event comes, its time is believed for
// as long as its project keeps records, and the noise rules of the project drop it.
func TestEveryDoorFollowsTheProject(t *testing.T) {
	o := testOptions(t)
	o.NATSListen, o.NATSProject = "127.0.0.1:0", 1
	a := build(t, o)
	run(t, a)
	url, admin := a.Welcome().URL, key(t, filepath.Join(o.Data, datadir.AdminKeyFile))
	patch := func(body string) {
		t.Helper()
		if status, answer := request(t, http.MethodPatch, url+"/api/v1/admin/projects/1", admin, body); status != http.StatusOK {
			t.Fatalf("%s: %d %s", body, status, answer)
		}
	}
	began := time.Now().UTC().Truncate(time.Millisecond)
	ago := func(days int) time.Time { return began.AddDate(0, 0, -days) }
	all := doors(t, a, o.Data)
	want := map[string]time.Time{} // when each class happened; the zero time for when it came
	for i, retention := range []struct{ days, kept, gone int }{{0, 400, 0}, {90, 89, 91}, {7, 6, 8}} {
		patch(fmt.Sprintf(`{"retention_days":%d,"noise":[{"field":"class","match":"Drop*","action":"drop"}]}`, retention.days))
		for _, d := range all {
			class := fmt.Sprint(d.name, retention.days)
			d.send("Kept"+class, ago(retention.kept))
			want["Kept"+class] = ago(retention.kept)
			if retention.gone > 0 {
				d.send("Gone"+class, ago(retention.gone))
				want["Gone"+class] = time.Time{}
			}
			d.send("Drop"+class, began)
		}
		// What is published to NATS follows the rules of the moment in which it is taken.
		awaitMetric(t, a, fmt.Sprintf(`errata_refused_events_total{project="1",reason="noise_rule"} %d`, (i+1)*len(all)))
	}
	awaitRecords(t, a, func(rows []row) bool { return len(rows) == len(want) })
	_, body := get(t, url+"/api/v1/admin/tools/logs/errors?limit=100", admin)
	var listed struct {
		Data []struct {
			Class     string    `json:"exception_class"`
			FirstSeen time.Time `json:"first_seen"`
		}
	}
	if err := json.Unmarshal([]byte(body), &listed); err != nil {
		t.Fatal(err)
	}
	for _, r := range listed.Data {
		at, sent := want[r.Class]
		switch delete(want, r.Class); {
		case !sent:
			t.Errorf("%s is in the list", r.Class)
		case at.IsZero() && r.FirstSeen.Before(began), !at.IsZero() && !r.FirstSeen.Equal(at):
			t.Errorf("%s happened at %v, want %v", r.Class, r.FirstSeen, at)
		}
	}
	if len(want) > 0 {
		t.Errorf("not in the list: %v", want)
	}
}
