package flow

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/door/doortest"
	nativereceiver "github.com/errata-log/errata/ingest/native"
	otlpreceiver "github.com/errata-log/errata/ingest/otlp"
	sentryreceiver "github.com/errata-log/errata/ingest/sentry"
	"github.com/errata-log/errata/projects"
	"github.com/errata-log/errata/test/servicetest"
	"github.com/errata-log/errata/test/testenv"
)

// batchEvents is how many planted events one request has.
const batchEvents = 100

// control is no secret and must be found wherever events are kept and shown;
// otherwise the search proves nothing.
const control = "ctrl7x"

// poster sends a request and fails the test unless it was taken.
type poster func(message)

// search looks for planted secrets in the texts that it gets.
type search struct {
	plants  *plants
	needles []string
	bytes   int64
	seen    map[string]bool   // the kinds of places where control was found
	found   map[string]string // place of the secret: where it was found
}

func (s *search) in(where string, text []byte) {
	s.bytes += int64(len(text))
	if bytes.Contains(text, []byte(control)) {
		s.seen[where] = true
	}
	for _, needle := range s.needles {
		for from := 0; ; {
			at := bytes.Index(text[from:], []byte(needle))
			if at < 0 {
				break
			}
			at += from
			from = at + len(needle)
			place := s.plants.place(string(text[at:min(len(text), at+len(mark)+6)]))
			s.found[place] = fmt.Sprintf("%s: …%q…", where, text[max(0, at-60):min(len(text), from+20)])
		}
	}
}

func (s *search) report(t *testing.T) {
	t.Helper()
	const shown = 40
	places := slices.Sorted(maps.Keys(s.found))
	for _, place := range places[:min(shown, len(places))] {
		t.Errorf("survived: %s\n\tin %s", place, s.found[place])
	}
	t.Logf("%d secrets were planted, %d survived; %d bytes were searched", len(s.plants.where), len(s.found), s.bytes)
}

// collector is a log that searches its events.
type collector struct {
	look   *search
	events int
}

// Append implements ingest.Log.
func (c *collector) Append(_ context.Context, events []errata.Event) error {
	for i := range events {
		e := &events[i]
		c.look.in("an event", []byte(strings.Join([]string{e.File, e.Message, e.Class, e.URI, e.Method, string(e.Payload), fmt.Sprintf("%+v", e.Trail)}, "\n")))
	}
	c.events += len(events)
	return nil
}

// TestNoPlantedSecretReachesTheLog sends every default key in every spelling, and
// credentials by their form, in every place of an event to the three receivers,
// and searches for the values in the events for the log.
func TestNoPlantedSecretReachesTheLog(t *testing.T) {
	p := &plants{}
	values := plantedValues(p)
	look := &search{plants: p, needles: needles(values), seen: map[string]bool{}, found: map[string]string{}}
	to := &collector{look: look}
	pipeline, err := ingest.New(ingest.Config{Log: to, Random: rand.Reader, Context: func(uint64) projects.Context { return projects.Context{Vars: projects.VarsValues} }})
	if err != nil {
		t.Fatal(err)
	}
	post := before(t, pipeline)
	k := key{project: doortest.Project, public: doortest.PublicKey, text: doortest.Token}
	keys := slices.Collect(everyNth(plantedKeys(t), raceScale))
	for batch := range slices.Chunk(keys, batchEvents) {
		sendPlanted(post, k, p, batch)
	}
	sendValues(post, k, values)
	if want := 3 * (len(keys) + len(values)); to.events != want {
		t.Errorf("%d events came, want %d", to.events, want)
	}
	t.Logf("%d keys in all spellings, %d values by their form", len(keys), len(values))
	look.report(t)
}

// before is the three receivers in front of a pipeline.
func before(t *testing.T, pipeline *ingest.Pipeline) poster {
	t.Helper()
	cfg := door.Config{Accepter: pipeline, Keyring: doortest.Keys{}, Budget: door.NewBudget(door.DefaultBudget), Now: time.Now}
	mux := http.NewServeMux()
	events, err := nativereceiver.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	envelopes, err := sentryreceiver.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	telemetry, err := otlpreceiver.New(otlpreceiver.Config{Config: cfg})
	if err != nil {
		t.Fatal(err)
	}
	mux.Handle("/api/v1/events", events)
	mux.Handle("/api/{project}/envelope/", envelopes)
	mux.Handle("/v1/logs", telemetry)
	return func(m message) {
		t.Helper()
		req := httptest.NewRequest(http.MethodPost, m.path, strings.NewReader(m.body))
		for i := 0; i+1 < len(m.header); i += 2 {
			req.Header.Set(m.header[i], m.header[i+1])
		}
		w := httptest.NewRecorder()
		if mux.ServeHTTP(w, req); w.Code/100 != 2 {
			t.Fatalf("%s: %d %.500s", m.path, w.Code, w.Body)
		}
	}
}

// TestNoPlantedSecretSurvives sends each default key in one of its spellings, and
// credentials by their form, to the receivers of a real service, and searches for
// the values wherever it stores or prints anything.
func TestNoPlantedSecretSurvives(t *testing.T) {
	p := &plants{}
	values := plantedValues(p)
	journal := &servicetest.Journal{}
	s := start(t, func(o *app.Options) {
		o.Scrub.Keys, o.Scrub.Patterns = []string{"customer_no"}, []string{"own7x[0-9]+"}
		o.Logger = slog.New(slog.NewTextHandler(journal, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	k := s.firstKey(t)
	post := func(m message) { s.mustPost(t, m) }
	keys := slices.Collect(everyNth(plantedKeys(t), oneSpelling))
	sendPlanted(post, k, p, keys)
	own := []string{asJSON(map[string]any{"message": control + " of own7x123, customerNo: " + p.secret("own key"), "file": "src/own.go"})}
	sendLines(post, k, own, nil)
	values = append(values, value{"own7x123", "own7x123"})
	sendValues(post, k, values)
	if sums := s.settle(t); sums.accepted < float64(3*len(keys)) {
		t.Fatalf("%v of %d events were accepted", sums.accepted, 3*len(keys))
	}
	look := &search{plants: p, needles: needles(values), seen: map[string]bool{}, found: map[string]string{}}
	s.searchAnswers(t, look)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	look.in("the service's own log", []byte(journal.String()))
	searchFiles(t, look, s.data)
	searchEngines(t, look, s.data)
	for _, where := range []string{"the list", "an answer", "the log", "table errata_store.records.message_preview"} {
		if !look.seen[where] {
			t.Errorf("what is no secret was not found in %s", where)
		}
	}
	t.Logf("%d keys, %d values by their form", len(keys), len(values))
	look.report(t)
}

// oneSpelling of that many spellings goes through the whole service. It shares no
// divisor with their number, so each spelling comes with some key.
const oneSpelling = 7

// everyNth yields one in n of the keys.
func everyNth(keys []string, n int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 0; i < len(keys); i += n {
			if !yield(keys[i]) {
				return
			}
		}
	}
}

// sendPlanted sends an event with each key to each receiver.
func sendPlanted(post poster, k key, p *plants, keys []string) {
	first := len(p.where)
	var natives, records []string
	for i, name := range keys {
		n := first + i
		natives = append(natives, p.native(name, n))
		records = append(records, p.otlp(name, n))
		post(message{
			fmt.Sprintf("/api/%d/envelope/", k.project), string(eventEnvelope(p.sentry(name, n))),
			[]string{"X-Sentry-Auth", "Sentry sentry_version=7, sentry_key=" + k.public}, 1,
		})
	}
	sendLines(post, k, natives, records)
}

// sendLines sends native events, and resources with OTLP log records.
func sendLines(post poster, k key, natives, records []string) {
	post(message{"/api/v1/events", strings.Join(natives, "\n"), []string{"Authorization", "Bearer " + k.text, "Content-Type", "application/x-ndjson"}, len(natives)})
	post(message{
		"/v1/logs", `{"resourceLogs":[` + strings.Join(records, ",") + `]}`,
		[]string{"Authorization", "Bearer " + k.text, "Content-Type", "application/json"}, len(records),
	})
}

func (s *service) mustPost(t *testing.T, m message) {
	t.Helper()
	if a, err := s.post(m); err != nil || a.status/100 != 2 {
		t.Fatalf("%s: %v %d %.500s", m.path, err, a.status, a.body)
	}
}

// searchAnswers searches the answers of the API and the metrics.
func (s *service) searchAnswers(t *testing.T, look *search) {
	t.Helper()
	paths := []string{"/metrics", "/api/v1/admin/audit?limit=100"}
	for _, row := range s.all(t) {
		paths = append(paths, listPath+"/"+row.Signature+"?type="+row.Type)
		text, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		look.in("the list", text)
	}
	paths = append(paths, strings.Replace(paths[len(paths)-1], "?", "/trend?", 1))
	for _, path := range paths {
		a := s.do(t, http.MethodGet, path, "", "Authorization", "Bearer "+s.admin)
		if a.status != http.StatusOK {
			t.Fatalf("%s: %d %.300s", path, a.status, a.body)
		}
		look.in("an answer", []byte(a.body))
	}
}

// searchFiles searches all files as they are.
func searchFiles(t *testing.T, look *search, data string) {
	t.Helper()
	err := filepath.WalkDir(data, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		look.in(path, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// searchEngines opens the engines of a stopped service and searches every message
// of every stream and every text column of every table.
func searchEngines(t *testing.T, look *search, data string) {
	t.Helper()
	dir, err := datadir.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	engines, err := engine.Start(t.Context(), engine.Config{
		Dir: dir, Options: engine.Options{EngineBinary: testenv.EngineBinary(t), LogMaxBytes: 256 << 20}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := engines.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	searchStreams(t, look, engines.JetStream())
	searchTables(t, look, engines)
}

func searchStreams(t *testing.T, look *search, js jetstream.JetStream) {
	t.Helper()
	events := 0
	for info := range js.ListStreams(t.Context()).Info() {
		if info.State.Msgs == 0 {
			continue
		}
		consumer, err := js.OrderedConsumer(t.Context(), info.Config.Name, jetstream.OrderedConsumerConfig{})
		if err != nil {
			t.Fatal(err)
		}
		for pending := uint64(1); pending > 0; {
			msg, err := consumer.Next()
			if err != nil {
				t.Fatalf("%s: %v", info.Config.Name, err)
			}
			meta, err := msg.Metadata()
			if err != nil {
				t.Fatal(err)
			}
			pending = meta.NumPending
			look.in("stream "+info.Config.Name, msg.Data())
			events += searchBlock(t, look, msg.Data())
		}
	}
	if events == 0 {
		t.Fatal("the log holds no event")
	}
}

// searchBlock searches the events of a block; other messages have none.
func searchBlock(t *testing.T, look *search, data []byte) (events int) {
	t.Helper()
	if !bytes.HasPrefix(data, []byte("ERB")) {
		return 0
	}
	block, err := eventlog.DecodeBlock(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	look.in("the log", block.Raw())
	return block.Len()
}

func searchTables(t *testing.T, look *search, engines *engine.Engines) {
	t.Helper()
	conn := engines.ClickHouse()
	rows, err := conn.Query(t.Context(), "SELECT database, table, name FROM system.columns WHERE type ILIKE '%String%' AND "+
		"(database NOT IN ('system', 'information_schema', 'INFORMATION_SCHEMA') OR database = 'system' AND table LIKE '%\\_log')")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var columns [][3]string
	for rows.Next() {
		var c [3]string
		if err := rows.Scan(&c[0], &c[1], &c[2]); err != nil {
			t.Fatal(err)
		}
		columns = append(columns, c)
	}
	if err := rows.Err(); err != nil || len(columns) < 10 {
		t.Fatalf("%d text columns, %v", len(columns), err)
	}
	for _, c := range columns {
		var texts []string
		query := fmt.Sprintf("SELECT groupArray(toString(`%s`)) FROM `%s`.`%s`", c[2], c[0], c[1])
		if err := conn.QueryRow(t.Context(), query).Scan(&texts); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		for _, text := range texts {
			look.in("table "+strings.Join(c[:], "."), []byte(text))
		}
	}
}
