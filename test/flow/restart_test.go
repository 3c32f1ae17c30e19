package flow

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/errata-log/errata/app"
)

// publicURL is fixed, as an operator's is, so that the DSN does not contain the
// port of the test.
func publicURL(o *app.Options) { o.PublicURL = "http://errors.example.org" }

// message is a request that carries events.
type message struct {
	path, body string
	header     []string
	events     int
}

func (s *service) post(m message) (answer, error) {
	return s.try(http.MethodPost, m.path, strings.NewReader(m.body), m.header...)
}

// native is events as NDJSON, envelope an event of an SDK, export an OTLP log
// record. id makes each of them one event; class makes a record.
func (k key) native(id, class string, n int) message {
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, `{"id":"%s-%d","message":"it broke","exception_class":%q,"file":"src/app.go","line":7,"payload":{"id":"%s-%d"}}`+"\n", id, i, class, id, i)
	}
	return message{"/api/v1/events", lines.String(), []string{"Authorization", "Bearer " + k.text}, n}
}

func (k key) envelope(id, class string) message {
	hex := fmt.Sprintf("%032x", id)[:32]
	event := fmt.Sprintf(`{"event_id":%q,"tags":{"book":"database"},"exception":{"values":[{"type":%q,"value":"it broke"}]}}`, hex, class)
	return message{
		fmt.Sprintf("/api/%d/envelope/", k.project), fmt.Sprintf("{\"event_id\":%q}\n{\"type\":\"event\"}\n%s\n", hex, event),
		[]string{"X-Sentry-Auth", "Sentry sentry_version=7, sentry_key=" + k.public}, 1,
	}
}

func (k key) export(id, class string) message {
	return message{
		"/v1/logs",
		fmt.Sprintf(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"severityNumber":17,"attributes":[`+
			`{"key":"exception.type","value":{"stringValue":%q}},{"key":"id","value":{"stringValue":%q}}]}]}]}]}`, class, id),
		[]string{"Authorization", "Bearer " + k.text, "Content-Type", "application/json"}, 1,
	}
}

// everything is all that can be read of the records.
func (s *service) everything(t *testing.T) (all []detailed) {
	t.Helper()
	for _, r := range s.all(t) {
		all = append(all, s.detail(t, r.Signature, r.Type))
	}
	return all
}

// keyFiles are the files of keys with their modes and contents.
func (s *service) keyFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	names, err := filepath.Glob(filepath.Join(s.data, "keys", "*"))
	if err != nil || len(names) == 0 {
		t.Fatalf("key files: %v, %v", names, err)
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = info.Mode().String() + " " + string(text)
	}
	return files
}

func TestRestartChangesNothing(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	s := startIn(t, data, publicURL)
	first, second := s.firstKey(t), s.newKey(t, 2)
	var sent []message
	for i, k := range []key{first, second} {
		sent = append(sent, k.native(fmt.Sprint("n", i), "NativeError", 3), k.envelope(fmt.Sprint("e", i), "EnvelopeError"),
			k.envelope(fmt.Sprint("f", i), "EnvelopeError"), k.export(fmt.Sprint("o", i), "ExportError"))
	}
	events := sendAll(t, s, sent)
	s.settle(t)
	records, files := s.everything(t), s.keyFiles(t)
	if len(records) != 6 || sumOf(records) != events {
		t.Fatalf("%d records with %d events, want 6 with %d: %+v", len(records), sumOf(records), events, records)
	}
	began := time.Now()
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	t.Logf("stop: %v", time.Since(began))

	again := startIn(t, data, publicURL)
	if diff := cmp.Diff(files, again.keyFiles(t)); diff != "" {
		t.Errorf("key files (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(records, again.everything(t), cmp.AllowUnexported(detailed{})); diff != "" {
		t.Errorf("records (-before +after):\n%s", diff)
	}
	// Events from before the restart are recognised after it, by every receiver.
	if n := sendAll(t, again, sent); n != events {
		t.Errorf("%d events were taken again, want %d", n, events)
	}
	if now := again.settle(t); now.folded != 0 || now.duplicate != float64(events) {
		t.Errorf("sent again: %+v, want %d duplicates", now, events)
	}
	if diff := cmp.Diff(records, again.everything(t), cmp.AllowUnexported(detailed{})); diff != "" {
		t.Errorf("records after sending again (-before +after):\n%s", diff)
	}
	sendAll(t, again, []message{first.native("new", "NativeError", 1)})
	again.settle(t)
	if now := again.everything(t); len(now) != 6 || sumOf(now) != events+1 {
		t.Errorf("a new event after the restart: %d records with %d events", len(now), sumOf(now))
	}
}

// sendAll sends the messages, expects a 2xx for each, and returns how many events
// they carried.
func sendAll(t *testing.T, s *service, messages []message) (events int) {
	t.Helper()
	for _, m := range messages {
		a, err := s.post(m)
		if err != nil || a.status/100 != 2 {
			t.Fatalf("%s: %d %s, %v", m.path, a.status, a.body, err)
		}
		events += m.events
	}
	return events
}

func sumOf(records []detailed) (n int) {
	for _, r := range records {
		n += int(r.Count)
	}
	return n
}

// sender sends one kind of message until the service refuses it.
type sender struct {
	name string
	next func(i int) message

	taken   int // events
	pending *message
}

// run ends at the first message without a 2xx, which may be stored or not.
func (x *sender) run(s *service, taken *atomic.Int64) {
	for i := 0; ; i++ {
		m := x.next(i)
		if a, err := s.post(m); err != nil || a.status/100 != 2 {
			x.pending = &m
			return
		}
		x.taken += m.events
		taken.Add(int64(m.events))
	}
}

// TestStopUnderLoad stops the service while all receivers are busy. Everything
// that got a 2xx is there after the next start. Requests without an answer are
// sent again, as SDKs with a queue do, and then every count is exact.
func TestStopUnderLoad(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	s := startIn(t, data, publicURL)
	k := s.firstKey(t)
	var senders []*sender
	for n := range 3 {
		id := func(i int) string { return fmt.Sprintf("%d.%d", n, i) }
		class := func(receiver string) string { return receiver + strings.Repeat("X", n) }
		senders = append(senders,
			&sender{name: class("Single"), next: func(i int) message { return k.native("s"+id(i), class("Single"), 1) }},
			&sender{name: class("Batch"), next: func(i int) message { return k.native("b"+id(i), class("Batch"), 50) }},
			&sender{name: class("Envelope"), next: func(i int) message { return k.envelope("e"+id(i), class("Envelope")) }},
			&sender{name: class("Export"), next: func(i int) message { return k.export("o"+id(i), class("Export")) }},
		)
	}
	var taken atomic.Int64
	var running sync.WaitGroup
	for _, x := range senders {
		running.Go(func() { x.run(s, &taken) })
	}
	awaitLoad(t, &taken)
	began := time.Now()
	if err := s.stop(); err != nil {
		t.Errorf("stop under load: %v", err)
	}
	took := time.Since(began)
	running.Wait()
	t.Logf("stop under load: %v after %d events", took, taken.Load())
	if took > app.StopTimeout {
		t.Errorf("the stop took %v, more than %v", took, app.StopTimeout)
	}

	again := startIn(t, data, publicURL)
	want := map[string]int{}
	again.await(t, k, "Watermark")
	for _, x := range senders {
		want[x.name] = x.taken
	}
	checkCounts(t, again, want, "answered", func(got, want int) bool { return got >= want && got <= want+50 })
	for _, x := range senders {
		want[x.name] += sendAll(t, again, []message{*x.pending})
	}
	again.await(t, k, "Watermarks")
	checkCounts(t, again, want, "sent again", func(got, want int) bool { return got == want })
}

func awaitLoad(t *testing.T, taken *atomic.Int64) {
	t.Helper()
	const enough = 3000
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	late := time.After(visibleTimeout)
	for taken.Load() < enough {
		select {
		case <-poll.C:
		case <-late:
			t.Fatalf("only %d events were taken", taken.Load())
		}
	}
}

// await waits until an event that is sent now is in the list: the log has one
// order, so all earlier ones are too.
func (s *service) await(t *testing.T, k key, class string) {
	t.Helper()
	sendAll(t, s, []message{k.native(class, class, 1)})
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	late := time.After(visibleTimeout)
	for {
		if rows, _ := s.list(t, "exception_class="+class); len(rows) == 1 {
			return
		}
		select {
		case <-poll.C:
		case <-late:
			t.Fatalf("an event is not in the list after %v", visibleTimeout)
		}
	}
}

// checkCounts compares the counts of the records by class.
func checkCounts(t *testing.T, s *service, want map[string]int, when string, right func(got, want int) bool) {
	t.Helper()
	got := map[string]int{}
	for _, r := range s.all(t) {
		got[r.ExceptionClass] += int(r.Count)
	}
	for class, n := range want {
		if !right(got[class], n) {
			t.Errorf("%s: %s counts %d, want %d", when, class, got[class], n)
		}
	}
}
