//go:build clients

package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/errata-log/errata/test/servicetest"
)

// The packages of the Python application with OpenTelemetry.
var otelPackages = []string{"opentelemetry-sdk==1.45.2", "opentelemetry-exporter-otlp-proto-http==1.45.2"}

// planEvents is how many events TestEverything sends; ERRATA_PLAN_EVENTS is
// another number.
const planEvents = 206_000

// scenario is a service that is killed, its clients, and the model.
type scenario struct {
	*process
	senders
	books *books
	// signatures are those of the records that there were at the last look.
	signatures map[problemKey]string
	// twice are the events that the service has forgotten, and has counted again.
	twice map[string]bool

	restarting sync.Mutex
	kills      int // so far
}

// TestEverything sends the events of a plan by six clients in three projects, kills
// the service meanwhile, and changes records in between. The log is so small that it is
// purged again and again. In the end the service must show what the model has, and the
// same after a replay; every payload that is left must be what the receivers make of the
// requests.
func TestEverything(t *testing.T) {
	events := planEvents
	if text := os.Getenv("ERRATA_PLAN_EVENTS"); text != "" {
		var err error
		if events, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	s := newScenario(t, events)
	for phase := range planPhases {
		s.phase(t, phase)
		s.look(t)
		s.places(t)
		changes[phase](s, t)
		if t.Failed() {
			t.Fatalf("after phase %d", phase)
		}
	}
	if s.books.reborn == 0 || s.books.regressed == 0 || s.kills < 6 || s.recorder.retried.Load() == 0 || s.recorder.resent.Load() == 0 {
		t.Errorf("the plan is too tame: %d records began again, %d regressed, %d kills, %d requests retried and %d resent",
			s.books.reborn, s.books.regressed, s.kills, s.recorder.retried.Load(), s.recorder.resent.Load())
	}
	s.lastWords(t)
	s.look(t)
	s.compare(t)
	s.compareOccurrences(t)
	s.replay(t)
	s.compare(t)
	shown := s.compareOccurrences(t)
	_, purges := s.rest(t)
	if least := min(5, 1+events/planEvents); len(purges) < least || s.recorder.resentLater.Load() == 0 || len(s.twice) == 0 {
		t.Errorf("the plan is too tame: %d purges, want %d or more; %d requests resent in the next phase, %d events sent again after a purge",
			len(purges), least, s.recorder.resentLater.Load(), len(s.twice))
	}
	s.compareLog(t, shown)
	t.Logf("%d events by %d requests, %d retried, %d resent, %d of them later; %d kills; %d purges, %d events counted again behind one; "+
		"%d records made, %d of them again, %d regressed, %d left",
		len(s.recorder.doors.at), s.recorder.taken.Load(), s.recorder.retried.Load(), s.recorder.resent.Load(), s.recorder.resentLater.Load(),
		s.kills, len(purges), len(s.twice), s.books.made, s.books.reborn, s.books.regressed, len(s.books.records))
}

// clientNames are how clients call themselves that send a request for each event.
var clientNames = map[planClient]string{
	bySentryGo: "sentry.go", bySentryNode: "sentry.javascript.node", bySentryPython: "sentry.python", bySentryBrowser: "Mozilla",
}

func newScenario(t *testing.T, events int) *scenario {
	t.Helper()
	packages(t)
	s := &scenario{process: newProcess(t, "--log-max-bytes", strconv.Itoa(logRoom(events))), books: newBooks(), twice: map[string]bool{}}
	s.HTTP.Timeout = 4 * never // a replay answers when it is done
	s.senders = senders{plan: newPlan(18, time.Now(), events), site: newSite(t)}
	for _, name := range planProjects {
		var p project
		s.change(t, http.MethodPost, "/api/v1/admin/projects", map[string]string{"name": name}, &p)
		s.projects = append(s.projects, p)
	}
	s.recorder = newRecorder(t, s.URL, newDoors(t, s.projects))
	for i := range s.projects {
		s.projects[i].DSN = at(t, s.projects[i].DSN, s.recorder.URL())
	}
	return s
}

// change sends a request with a body and reads the data of its answer.
func (s *scenario) change(t *testing.T, method, path string, body, into any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := servicetest.NewRequest(method, s.URL+path, bytes.NewReader(text), "Authorization", "Bearer "+s.Admin, "Content-Type", "application/json")
	if err != nil {
		t.Fatal(err)
	}
	resp, answer, err := servicetest.Send(s.HTTP, req)
	if err != nil || resp.StatusCode >= 300 {
		t.Fatalf("%s %s %s: %v %.4000s", method, path, text, err, answer)
	}
	if err := json.Unmarshal([]byte(answer), &struct{ Data any }{into}); err != nil {
		t.Fatalf("%s %s: %v in %s", method, path, err, answer)
	}
}

// killsAfter is after how many events of a phase, about, the service is killed; it is
// killed twice at least.
const killsAfter = 50_000

// phase sends the events of a phase, while the service is killed.
func (s *scenario) phase(t *testing.T, phase int) {
	t.Helper()
	began := time.Now()
	s.recorder.resendLater(s.remembered(t))
	requests := s.plan.shares[bySentryGo] + s.plan.shares[bySentryNode] + s.plan.shares[byNative]/nativeEvents // at least
	kills := max(2, s.plan.shares[byNative]/killsAfter)
	for k := range kills {
		s.recorder.when(int64(requests*(k+1)/(kills+1)), func() { s.restart(t) })
	}
	s.send(t, phase)
	if undone := s.recorder.idle(); undone > 0 {
		t.Errorf("phase %d had too few requests for %d kills", phase, undone)
	}
	taken := s.recorder.agents()
	for c, name := range clientNames {
		if want := s.plan.shares[c] * (phase + 1); taken[name] < want {
			t.Errorf("phase %d: %s has sent %d events, not %d", phase, name, taken[name], want)
		}
	}
	for c := range planClients {
		for _, e := range s.plan.events(c, phase) {
			s.books.add(&e)
		}
	}
	t.Logf("phase %d: sent in %v", phase, time.Since(began).Round(time.Millisecond))
}

// lastWords sends some events one after another, so that the order in which a record
// was seen somewhere is known.
func (s *scenario) lastWords(t *testing.T) {
	t.Helper()
	for project := range planProjects {
		for k := range 8 {
			for i := range len(planReleases) {
				n := s.plan.shares[byNative] + (project*8+k)*len(planReleases) + i // after those of the last phase
				e := s.plan.event(byNative, planPhases-1, n)
				x := s.plan.problem(project, "Problem", 3*k)
				e.Project, e.Class, e.Message, e.Book = project, x.class, x.message(), x.book
				e.Environment, e.Release = planEnvironments[(i+k)%len(planEnvironments)], planReleases[(2*i+k)%len(planReleases)]
				if err := s.post(s.recorder.client, []planned{e}); err != nil {
					t.Fatal(err)
				}
				s.books.follow(&e)
			}
		}
	}
}

// restart kills the service and starts it again.
func (s *scenario) restart(t *testing.T) {
	s.restarting.Lock()
	defer s.restarting.Unlock()
	s.kill(t)
	if s.start(t) {
		s.kills++
	}
}

// look waits until the service has folded everything, and learns the signatures of
// its records.
func (s *scenario) look(t *testing.T) {
	t.Helper()
	s.previews(t, "", s.plan.base)
	s.signatures = map[problemKey]string{}
	for _, l := range s.compareList(t, question{}, "id") {
		s.signatures[l.key()] = l.Signature
	}
	if t.Failed() {
		s.autopsy(t)
		t.FailNow() // what follows would differ as well
	}
}

// autopsy logs what tells an event that never came from one that is not shown.
func (s *scenario) autopsy(t *testing.T) {
	t.Helper()
	t.Logf("requests taken of each client: %v; events of each client in a phase: %v", s.recorder.agents(), s.plan.shares)
	for path, about := range map[string]string{"ops/log/verify": "the log", "ops/replay": "the replay"} {
		req, err := servicetest.NewRequest(http.MethodPost, s.URL+"/api/v1/admin/"+path, strings.NewReader("{}"),
			"Authorization", "Bearer "+s.Admin, "Content-Type", "application/json")
		if err != nil {
			t.Fatal(err)
		}
		_, answer, err := servicetest.Send(s.HTTP, req)
		t.Logf("%s: %.2000s (%v)", about, answer, err)
	}
	t.Logf("metrics: %v", (&service{Service: s.Service}).metrics(t))
}

// previews asks what a cleanup would delete, which waits for all events before it.
func (s *scenario) previews(t *testing.T, project string, before time.Time) {
	t.Helper()
	var preview struct{ Books changed }
	s.change(t, http.MethodPost, listPath+"/cleanup/preview", cleanup(project, before), &preview)
	want := changed{"system": 0, "database": 0}
	for _, r := range s.books.upTo(slices.Index(planProjects, project), before) {
		want[r.book]++
	}
	if !maps.Equal(want, preview.Books) {
		t.Errorf("preview of %q up to %v: got %v, want %v", project, before, preview.Books, want)
	}
}

// cleanup is the body of a cleanup; project "" is all of them.
func cleanup(project string, before time.Time) map[string]string {
	body := map[string]string{"before": before.UTC().Format("2006-01-02T15:04:05.000Z")}
	if project != "" {
		body["project"] = project
	}
	return body
}

// replay makes the records anew from the log; they must be the same.
func (s *scenario) replay(t *testing.T) {
	t.Helper()
	var result struct {
		Swapped        bool
		From           uint64
		Live, Replayed map[string]any // numbers and checksums
		Differences    []string
	}
	s.HTTP.CloseIdleConnections()
	s.change(t, http.MethodPost, "/api/v1/admin/ops/replay", map[string]any{}, &result)
	if len(result.Differences) > 0 || !result.Swapped || len(result.Live) == 0 || !reflect.DeepEqual(result.Live, result.Replayed) {
		t.Errorf("replay: %+v", result)
	}
	// The latest snapshot has everything before its own command.
	if _, purges := s.rest(t); result.From != purges[len(purges)-1].sequence {
		t.Errorf("the replay began at %d; the purges are %v", result.From, purges)
	}
}

// every returns one of every n records of the model, sorted by name.
func (s *scenario) every(n int) (some []*kept) {
	byName := map[string]*kept{}
	for _, r := range s.books.records {
		byName[r.message()] = r
	}
	for i, name := range slices.Sorted(maps.Keys(byName)) {
		if i%n == 0 {
			some = append(some, byName[name])
		}
	}
	return some
}

// named are the signatures of records.
func (s *scenario) named(which []*kept) map[string]any {
	texts := make([]string, len(which))
	for i, r := range which {
		texts[i] = s.signatures[r.problemKey]
	}
	return map[string]any{"signatures": texts}
}

// removes deletes records, which the body selects, and compares their number.
func (s *scenario) removes(t *testing.T, body map[string]any, which []*kept) {
	t.Helper()
	var answer struct{ Count int }
	s.change(t, http.MethodDelete, listPath, body, &answer)
	if want := s.books.remove(which).sum(); answer.Count != want {
		t.Errorf("delete %.300s: %d records, want %d", fmt.Sprint(body), answer.Count, want)
	}
}

// moves gives records a status, and compares their number.
func (s *scenario) moves(t *testing.T, body map[string]any, which []*kept, status string) {
	t.Helper()
	var answer struct{ Count int }
	body["status"] = status
	s.change(t, http.MethodPost, listPath+"/status", body, &answer)
	if want := s.books.move(which, status).sum(); answer.Count != want {
		t.Errorf("status %.300s: %d records, want %d", fmt.Sprint(body), answer.Count, want)
	}
}

// cleans deletes the records of a project up to a time.
func (s *scenario) cleans(t *testing.T, project string, before time.Time) {
	t.Helper()
	s.previews(t, project, before)
	var answer struct{ Deleted changed }
	s.change(t, http.MethodPost, listPath+"/cleanup", cleanup(project, before), &answer)
	got := fmt.Sprint(answer.Deleted["system"], answer.Deleted["database"])
	want := s.books.remove(s.books.upTo(slices.Index(planProjects, project), before))
	if got != fmt.Sprint(want["system"], want["database"]) {
		t.Errorf("cleanup of %q up to %v: %v, want %v", project, before, answer.Deleted, want)
	}
}

// asks selects the records of a question: the body of a change, and the records of
// the model.
func (s *scenario) asks(q question) (body map[string]any, which []*kept) {
	return map[string]any{"filter": q}, s.books.asked(q)
}

// removesMatching and movesMatching change the records of a question, which must be
// some and not all.
func (s *scenario) removesMatching(t *testing.T, q question) {
	t.Helper()
	body, which := s.asks(q)
	s.selective(t, q, which)
	s.removes(t, body, which)
}

func (s *scenario) movesMatching(t *testing.T, q question, status string) {
	t.Helper()
	body, which := s.asks(q)
	s.selective(t, q, which)
	s.moves(t, body, which, status)
}

func (s *scenario) selective(t *testing.T, q question, which []*kept) {
	t.Helper()
	if len(which) == 0 || len(which) == len(s.books.records) {
		t.Errorf("%+v selects %d of %d records", q, len(which), len(s.books.records))
	}
}

// day is a time some days before the latest events.
func (s *scenario) day(before float64) time.Time {
	return s.plan.base.Add(-time.Duration(before * float64(24*time.Hour)))
}

// changes are made after each phase, while nobody sends.
var changes = [planPhases]func(*scenario, *testing.T){
	func(s *scenario, t *testing.T) {
		s.removes(t, s.named(s.every(7)), s.every(7))
		s.moves(t, s.named(s.every(4)), s.every(4), statusResolved)
		s.moves(t, s.named(s.every(9)), s.every(9), statusMuted)
		s.movesMatching(t, question{Project: "shop", Environment: "staging"}, statusResolved)
	},
	func(s *scenario, t *testing.T) {
		s.cleans(t, "", s.day(5.5))
		s.cleans(t, "billing", s.day(4))
		s.movesMatching(t, question{Message: "of billing", MinOccurrence: 4}, statusResolved)
		s.movesMatching(t, question{Environment: "canary", Release: "1.*", MinOccurrence: 3}, statusMuted)
		s.cuts(t)
	},
	func(s *scenario, t *testing.T) {
		s.removes(t, s.named(s.every(11)), s.every(11))
		s.removesMatching(t, question{Project: "mobile", Release: "2.0.0-*", Types: "database"})
		s.restart(t)
		s.movesMatching(t, question{Status: "open", Levels: "warning,error", Environment: "production"}, statusResolved)
	},
	func(s *scenario, t *testing.T) {
		s.cleans(t, "mobile", s.day(3))
		s.movesMatching(t, question{Status: "muted", Project: "shop,mobile"}, statusOpen)
		s.removesMatching(t, question{Release: "1.1.1", Environment: "testing", Status: "resolved"})
		s.movesMatching(t, question{Release: "1.0.0", Types: "system"}, statusResolved)
	},
	func(s *scenario, t *testing.T) {
		s.moves(t, s.named(s.every(8)), s.every(8), statusOpen)
		s.removesMatching(t, question{Project: "shop", Environment: "canary", Release: "2.*", MinOccurrence: 2})
		s.cleans(t, "", s.day(5))
	},
}
