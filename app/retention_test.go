package app_test

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/datadir"
)

// TestLogStaysWithinItsRoom: a log of 16 MiB takes several times as many bytes, because
// facts that the projection holds are purged. After that a replay of the snapshot and
// the rest of the log gives the same records. Of the occurrences whose facts are purged
// the first and the latest of a record still have their payloads.
func TestLogStaysWithinItsRoom(t *testing.T) {
	o := testOptions(t)
	o.LogMaxBytes = 16 << 20
	o.KeyEventsPerMinute, o.ProjectEventsPerMinute = 0, 0 // it is filled as fast as it takes
	a := build(t, o)
	stop := run(t, a)
	defer stop()
	keys := keyFiles(t, o.Data)
	url := a.Welcome().URL
	status, body := request(t, http.MethodPut, url+"/api/v1/admin/tools/logs/settings", keys[datadir.AdminKeyFile], `{"module_log":1}`)
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	const problems, early = 40, 4
	sendEarly(t, url, keys[datadir.IngestKeyFile], early)
	sent := early + fillLog(t, url, keys[datadir.IngestKeyFile], problems)
	checkPurged(t, url, keys[datadir.AdminKeyFile], early)
	status, body = request(t, http.MethodPost, url+"/api/v1/admin/ops/replay", keys[datadir.AdminKeyFile], "")
	if status != http.StatusOK {
		t.Fatalf("replay: %d %s", status, body)
	}
	var told struct {
		Data struct {
			Swapped bool
			From    uint64
			Live    struct{ Records, Count uint64 }
		}
	}
	if err := json.Unmarshal([]byte(body), &told); err != nil {
		t.Fatal(err)
	}
	checkPurged(t, url, keys[datadir.AdminKeyFile], early) // the replay made the occurrences again
	if d := told.Data; !d.Swapped || d.From < 2 || d.Live.Records != problems+1 || d.Live.Count != uint64(sent) {
		t.Errorf("sent %d events of %d problems to a log that was purged: %s", sent, problems, body)
	}
	// What was set before the purge is still set, and changes are not refused.
	if status, body = request(t, http.MethodPut, url+"/api/v1/admin/tools/logs/settings", keys[datadir.AdminKeyFile], `{"development":1}`); status != http.StatusOK || !strings.Contains(body, `"module_log":true`) {
		t.Errorf("%d %s", status, body)
	}
	if status, body = request(t, http.MethodGet, url+"/api/v1/admin/audit/verify", keys[datadir.AdminKeyFile], ""); status != http.StatusOK || !strings.Contains(body, `"ok":true`) {
		t.Errorf("%d %s", status, body)
	}
	stop()

	a = build(t, o)
	defer run(t, a)()
	status, body = request(t, http.MethodGet, a.Welcome().URL+"/api/v1/admin/audit?action=audit.*", keys[datadir.AdminKeyFile], "")
	if status != http.StatusOK || !strings.Contains(body, `"data":[]`) {
		t.Errorf("after a start the trail has a gap: %d %s", status, body)
	}
}

// TestRecordsOfAProjectExpire: records that were not seen for as long as their project
// keeps them go by one cleanup, which the next start of a service writes too, and others
// stay. A replay gives the same.
func TestRecordsOfAProjectExpire(t *testing.T) {
	o := testOptions(t)
	a := build(t, o)
	stop := run(t, a)
	defer func() { stop() }()
	keys := keyFiles(t, o.Data)
	ask := func(method, path, body string) string {
		t.Helper()
		status, answer := request(t, method, a.Welcome().URL+"/api/v1/admin/"+path, keys[datadir.AdminKeyFile], body)
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", path, status, answer)
		}
		return answer
	}
	old := time.Now().AddDate(0, 0, -10).UTC().Format(time.RFC3339)
	batch := `{"message":"seen again"}` + "\n" + `{"message":"seen again","time":"` + old + `"}` + "\n" + `{"message":"long gone","time":"` + old + `"}` + "\n"
	if status, answer := request(t, http.MethodPost, a.Welcome().URL+"/api/v1/events", keys[datadir.IngestKeyFile], batch); status >= 300 {
		t.Fatalf("%d %s", status, answer)
	}
	awaitRecords(t, a, func(rows []row) bool { return len(rows) == 2 })
	ask(http.MethodPatch, "projects/default", `{"retention_days":7}`)
	for range 2 { // the second finds nothing to do
		stop()
		a = build(t, o)
		stop = run(t, a)
		rows := awaitRecords(t, a, func(rows []row) bool { return len(rows) == 1 })
		if rows[0].Count != 2 {
			t.Errorf("the record that is left counts %d, want 2", rows[0].Count)
		}
	}
	if cleanups := strings.Count(ask(http.MethodGet, "audit?action=errors.cleanup", ""), `"action":"errors.cleanup"`); cleanups != 1 {
		t.Errorf("%d cleanups, want 1", cleanups)
	}
	if replayed := ask(http.MethodPost, "ops/replay", ""); !strings.Contains(replayed, `"differences":[]`) {
		t.Errorf("the replay differs: %s", replayed)
	}
}

// sendEarly sends events of one problem, each in a fact of its own.
func sendEarly(t *testing.T, url, key string, times int) {
	t.Helper()
	for turn := range times {
		event := fmt.Sprintf(`{"message":"before the purge","exception_class":"EarlyError","payload":{"turn":%d}}`, turn)
		if status, body := request(t, http.MethodPost, url+"/api/v1/events", key, event); status != http.StatusAccepted {
			t.Fatalf("%d %s", status, body)
		}
	}
}

// checkPurged checks that the facts of these events are purged: their occurrences are
// listed and numbered, and the first and the latest have their payloads.
func checkPurged(t *testing.T, url, key string, times int) {
	t.Helper()
	ask := func(path string, into any) {
		t.Helper()
		status, body := get(t, url+"/api/v1/admin/tools/logs/errors"+path, key)
		if err := json.Unmarshal([]byte(body), &struct{ Data any }{into}); err != nil || status != http.StatusOK {
			t.Fatalf("%s: %d %s (%v)", path, status, body, err)
		}
	}
	var records []row
	ask("?exception_class=EarlyError", &records)
	if len(records) != 1 {
		t.Fatalf("the records are %+v, want one", records)
	}
	type occurrence struct {
		Number, Position int
		Available        bool `json:"payload_available"`
		Payload          struct {
			Message string
			Extra   struct{ Turn int }
		}
	}
	path := "/" + records[0].Signature + "/occurrences"
	var listed []occurrence
	ask(path, &listed)
	if len(listed) != times {
		t.Fatalf("%d occurrences, want %d", len(listed), times)
	}
	for i, o := range listed {
		number := times - i
		ends := number == 1 || number == times
		if o.Number != number || o.Available != ends {
			t.Errorf("listed %+v, want number %d with a payload: %v", o, number, ends)
		}
		var one occurrence
		ask(fmt.Sprint(path, "/", o.Position), &one)
		if one.Number != number || one.Available != ends || ends != (one.Payload.Message != "") || ends && one.Payload.Extra.Turn != number-1 {
			t.Errorf("%+v, want number %d with a payload: %v", one, number, ends)
		}
	}
	for end, number := range map[string]int{"first": 1, "latest": times} {
		var one occurrence
		ask(path+"/"+end, &one)
		if one.Number != number || one.Payload.Message == "" || one.Payload.Extra.Turn != number-1 {
			t.Errorf("the %s is %+v, want number %d with its payload", end, one, number)
		}
	}
}

// fillLog sends 40 MiB of events, and each request until it is taken.
func fillLog(t *testing.T, url, key string, problems int) (sent int) {
	t.Helper()
	const events, size = 20, 9000
	for ; sent*size < 40<<20; sent += events {
		batch := incompressible(events, size, problems, sent)
		for {
			status, body := request(t, http.MethodPost, url+"/api/v1/events", key, batch)
			if status == http.StatusOK || status == http.StatusAccepted {
				break
			}
			if status != http.StatusServiceUnavailable || !strings.Contains(body, "log_full") {
				t.Fatalf("%d %s", status, body)
			}
			<-time.After(100 * time.Millisecond) // reason: what a sender does with Retry-After
		}
	}
	return sent
}

// incompressible makes events with payloads that cannot be compressed.
func incompressible(events, size, problems, from int) string {
	var lines bytes.Buffer
	noise := make([]byte, size/2)
	for i := range events {
		_, _ = rand.Read(noise) // never fails
		fmt.Fprintf(&lines, `{"id":"e%d","message":"problem %s","payload":{"noise":"%s"}}`+"\n", from+i, strings.Repeat("x", (from+i)%problems), hex.EncodeToString(noise))
	}
	return lines.String()
}
