package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/datadir"
)

// visibleTimeout is far above the time until an event is in the list.
const visibleTimeout = 20 * time.Second

// row is what the tests read of a record.
type row struct {
	Signature      string `json:"signature"`
	Count          uint64 `json:"count"`
	File           string `json:"file"`
	Line           int    `json:"line"`
	ExceptionClass string `json:"exception_class"`
	MessagePreview string `json:"message_preview"`
	Level          string `json:"level"`
	Overflow       bool   `json:"overflow"`
	Users          int    `json:"users"`
	Status         string `json:"status"`
}

// list is the first page of records.
func list(t *testing.T, a *app.App) []row {
	t.Helper()
	status, body := get(t, a.Welcome().URL+"/api/v1/admin/tools/logs/errors", key(t, a.Welcome().AdminKeyFile))
	var answer struct {
		Data []row `json:"data"`
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || status != http.StatusOK {
		t.Fatalf("list: %d %s (%v)", status, body, err)
	}
	return answer.Data
}

// awaitRecords asks for the list until it has these records.
func awaitRecords(t *testing.T, a *app.App, want func([]row) bool) []row {
	t.Helper()
	return await(t, "the list", func() []row { return list(t, a) }, want)
}

// await asks until the answer is as wanted, and returns it.
func await[T any](t *testing.T, what string, ask func() T, wanted func(T) bool) T {
	t.Helper()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	late := time.After(visibleTimeout)
	for {
		answer := ask()
		if wanted(answer) {
			return answer
		}
		select {
		case <-poll.C:
		case <-late:
			t.Fatalf("after %v: %s: %+v", visibleTimeout, what, answer)
		}
	}
}

// eventually waits until it is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	await(t, what, so, func(is bool) bool { return is })
}

// awaitMetric waits until /metrics has the lines.
func awaitMetric(t *testing.T, a *app.App, lines ...string) {
	t.Helper()
	await(t, fmt.Sprintf("the metrics, which should have %q", lines), func() string {
		_, text := get(t, a.Welcome().URL+"/metrics", "")
		return text
	}, func(text string) bool {
		return !slices.ContainsFunc(lines, func(line string) bool { return !strings.Contains(text, "\n"+line+"\n") })
	})
}

// opsStatus is what an administrator reads at ops/status.
func opsStatus(t *testing.T, a *app.App) string {
	t.Helper()
	status, body := get(t, a.Welcome().URL+"/api/v1/admin/ops/status", key(t, a.Welcome().AdminKeyFile))
	if status != http.StatusOK {
		t.Fatalf("ops/status: %d %s, want 200", status, body)
	}
	return body
}

func key(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// keyFiles are the files of the first start with their contents.
func keyFiles(t *testing.T, data string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range []string{datadir.AdminKeyFile, datadir.IngestKeyFile, datadir.DSNFile} {
		files[name] = key(t, filepath.Join(data, name))
	}
	return files
}

// TestFromPostToListAndAfterARestart sends events and reads their records, before and
// after a restart.
//
// long: the life of one record, whose steps build on each other.
func TestFromPostToListAndAfterARestart(t *testing.T) {
	o := testOptions(t)
	// The restart uses the same address, so that the DSN stays the same.
	o.PublicURL = "http://errors.example.org"
	a := build(t, o)
	if !a.Welcome().First {
		t.Error("the first start does not know that it is the first")
	}
	stop := run(t, a)
	files := keyFiles(t, o.Data)

	const event = `{"id":"%d","message":"order 42 failed","exception_class":"OrderError","file":"orders.go","line":51,"level":"critical"}`
	for i := range 3 {
		status, body := request(t, http.MethodPost, a.Welcome().URL+"/api/v1/events", files[datadir.IngestKeyFile], fmt.Sprintf(event, i))
		if status != http.StatusAccepted {
			t.Fatalf("event %d: %d %s", i, status, body)
		}
	}
	sent := time.Now()
	want := row{Count: 3, File: "orders.go", Line: 51, ExceptionClass: "OrderError", MessagePreview: "order 42 failed", Level: "critical", Status: "open"}
	isWant := func(rows []row) bool {
		if len(rows) != 1 {
			return false
		}
		got := rows[0]
		got.Signature = ""
		return got == want
	}
	rows := awaitRecords(t, a, isWant)
	t.Logf("visible after %v", time.Since(sent))
	detail := "/api/v1/admin/tools/logs/errors/" + rows[0].Signature
	if status, body := get(t, a.Welcome().URL+detail, files[datadir.AdminKeyFile]); status != http.StatusOK || !strings.Contains(body, `"payload":{`) {
		t.Errorf("detail: %d %s", status, body)
	}
	if status, body := get(t, a.Welcome().URL+"/api/v1/admin/tools/logs/errors", files[datadir.IngestKeyFile]); status != http.StatusForbidden {
		t.Errorf("list with the ingest key: %d %s, want 403", status, body)
	}
	checkMetrics(t, a)
	if err := stop(); err != nil {
		t.Fatal(err)
	}

	began := time.Now()
	again := build(t, o)
	t.Logf("second start: %v", time.Since(began))
	run(t, again)
	if again.Welcome().First {
		t.Error("the second start thinks that it is the first")
	}
	if rows := list(t, again); !isWant(rows) {
		t.Errorf("after a restart the list is %+v, want %+v", rows, want)
	}
	for name, text := range keyFiles(t, o.Data) {
		if text != files[name] {
			t.Errorf("%s changed in a restart", name)
		}
	}
	// An event id counts once for good, also across a restart.
	if status, body := request(t, http.MethodPost, again.Welcome().URL+"/api/v1/events", files[datadir.IngestKeyFile], fmt.Sprintf(event, 0)); status != http.StatusAccepted {
		t.Fatalf("repeat: %d %s", status, body)
	}
	if status, body := request(t, http.MethodPost, again.Welcome().URL+"/api/v1/events", files[datadir.IngestKeyFile], fmt.Sprintf(event, 3)); status != http.StatusAccepted {
		t.Fatalf("new event: %d %s", status, body)
	}
	want.Count = 4
	awaitRecords(t, again, isWant)
}

// checkMetrics checks the metrics after three events. A record is in the list a moment
// before it is counted.
func checkMetrics(t *testing.T, a *app.App) {
	t.Helper()
	awaitMetric(t, a, "errata_events_folded_total 3")
	status, body := get(t, a.Welcome().URL+"/metrics", "")
	if status != http.StatusOK {
		t.Fatalf("metrics: %d %s", status, body)
	}
	for _, want := range []string{
		`errata_log_events_appended_total 3`, `errata_events_duplicate_total 0`,
		`errata_projector_lag_seconds `, `errata_projector_insert_seconds_count `,
		`errata_log_append_seconds_count 3`, `errata_disk_free_bytes `, `errata_disk_total_bytes `,
		`errata_log_bytes `, fmt.Sprintf("errata_log_max_bytes %g\n", float64(64<<20)),
		`errata_door_requests_total{code="ok",door="native"} 3`, `go_goroutines `, `process_resident_memory_bytes `, `errata_clickhouse_process_resident_memory_bytes `,
	} {
		if !strings.Contains(body, "\n"+want) {
			t.Errorf("metrics lack %q", want)
		}
	}
}

// TestStopLosesNothing stops a service under load. After the next start the events that
// it answered with 202 are counted, and the refused ones are not.
func TestStopLosesNothing(t *testing.T) {
	o := testOptions(t)
	a := build(t, o)
	stop := run(t, a)
	ingestKey := key(t, a.Welcome().IngestKeyFile)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()

	var accepted, unknown atomic.Int64
	underWay := make(chan struct{})
	var once sync.Once
	var senders sync.WaitGroup
	for sender := range 8 {
		senders.Go(func() {
			for i := 0; ; i++ {
				body := fmt.Sprintf(`{"id":"%d-%d","message":"load","exception_class":"LoadError"}`, sender, i)
				status, err := post(t, client, a.Welcome().URL+"/api/v1/events", ingestKey, body)
				switch {
				case err != nil:
					unknown.Add(1) // cut off before or after it was read
					return
				case status == http.StatusAccepted:
					if accepted.Add(1) == 200 {
						once.Do(func() { close(underWay) })
					}
				default:
					return
				}
			}
		})
	}
	select {
	case <-underWay:
	case <-time.After(visibleTimeout):
		t.Fatalf("only %d events were taken", accepted.Load())
	}
	began := time.Now()
	if err := stop(); err != nil {
		t.Fatalf("stop under load: %v", err)
	}
	took := time.Since(began)
	senders.Wait()
	t.Logf("stop under load: %v, %d accepted, %d cut off", took, accepted.Load(), unknown.Load())
	if took > app.StopTimeout {
		t.Errorf("the stop took %v, more than %v", took, app.StopTimeout)
	}

	again := build(t, o)
	run(t, again)
	least, most := uint64(accepted.Load()), uint64(accepted.Load()+unknown.Load())
	rows := awaitRecords(t, again, func(rows []row) bool { return len(rows) == 1 && rows[0].Count >= least })
	if rows[0].Count > most {
		t.Errorf("count %d, want %d to %d", rows[0].Count, least, most)
	}
}

func post(t *testing.T, client *http.Client, url, key, body string) (status int, err error) {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}
