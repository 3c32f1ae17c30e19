package flow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/VictoriaMetrics/easyproto"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/httpstatus"
)

// outcome is what must become of a request.
type outcome int

const (
	// refused: a 4xx in the form of the protocol, and no record.
	refused outcome = iota
	// empty: a 2xx, since the protocol lets the body pass, and no record.
	empty
	// taken: a 2xx and one event, since the protocol reads past the fault.
	taken
	// either: the fault may be invisible, as in a damaged stream without a
	// checksum. The answer says whether it was.
	either
)

// door is a way in with its own form of an error.
type door string

const (
	native   door = "native"
	envelope door = "envelope"
	store    door = "store"
	logs     door = "OTLP logs"
	logsJSON door = "OTLP logs as JSON"
)

// attempt is one request that nobody should send.
type attempt struct {
	class, name string
	door        door
	body        []byte
	header      []string // beside the key
	want        outcome
}

// request is path and headers of the door.
func (a attempt) request(k key) (path string, header []string) {
	switch a.door {
	case native:
		return "/api/v1/events", append([]string{"Authorization", "Bearer " + k.text}, a.header...)
	case logs, logsJSON:
		kind := map[door]string{logs: "application/x-protobuf", logsJSON: "application/json"}[a.door]
		return "/v1/logs", append([]string{"Authorization", "Bearer " + k.text, "Content-Type", kind}, a.header...)
	default:
		return fmt.Sprintf("/api/%d/%s/", k.project, a.door), append([]string{"X-Sentry-Auth", "Sentry sentry_key=" + k.public}, a.header...)
	}
}

// Bounds of what thousands of malformed bodies may cost the process.
const (
	heapGrowth = 32 << 20
	// peakGrowth is for one body after the other, bombs among them: what one
	// request holds, and the garbage between two collections.
	peakGrowth = 96 << 20
)

// TestMalformedBodies sends what SDKs never do to every door of a service in a
// process of its own. It wants an answer in the form of the door's protocol
// each time, no panic, no record but where the protocol is lenient on purpose,
// and no memory kept.
func TestMalformedBodies(t *testing.T) {
	s := startAlone(t)
	k := s.firstKey(t)
	tally := &tally{counts: map[string]map[int]int{}}
	for _, a := range controls() { // also fills pools and caches
		s.attempt(t, k, a, tally)
	}
	before := s.memory(t, "reset")
	for attempts := range malformed(t) {
		for _, a := range attempts {
			s.attempt(t, k, a, tally)
		}
	}
	cutConnections(t, s, k, tally)
	after := s.memory(t, "heap")
	for _, class := range slices.Sorted(maps.Keys(tally.counts)) {
		t.Logf("%-46s %s", class, statuses(tally.counts[class]))
	}
	heap, peak := after.heap-before.heap, after.peak-before.peak
	t.Logf("%d bodies; heap %d KiB and %+d KiB after collection, peak of the process %d KiB and %+d KiB", tally.sent, before.heap>>10, heap>>10, before.peak>>10, peak>>10)
	if tally.sent < 1000 {
		t.Errorf("only %d bodies", tally.sent)
	}
	if heap > heapGrowth {
		t.Errorf("the heap grew by %d bytes, more than %d", heap, heapGrowth)
	}
	if limit := int64(peakGrowth * raceScale); peak > limit {
		t.Errorf("the process grew by up to %d bytes, more than %d", peak, limit)
	}
	s.checkAccepted(t, tally.accepted)
	s.checkReadable(t)
}

// tally is what was sent and what became of it.
type tally struct {
	counts         map[string]map[int]int // answers by class and status
	sent, accepted int
}

func (c *tally) count(class string, status int) {
	if c.counts[class] == nil {
		c.counts[class] = map[int]int{}
	}
	c.counts[class][status]++
	c.sent++
}

func statuses(of map[int]int) string {
	var parts []string
	for _, status := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, fmt.Sprintf("%d: %d", status, of[status]))
	}
	return strings.Join(parts, ", ")
}

// checkAccepted wants exactly so many events accepted, and all but repeats of
// the same id in the list.
func (s *service) checkAccepted(t *testing.T, want int) {
	t.Helper()
	now := s.settle(t)
	sum := uint64(0)
	for _, r := range s.all(t) {
		sum += r.Count
	}
	if now.accepted != float64(want) || sum != uint64(want)-uint64(now.duplicate) {
		t.Errorf("%+v and %d events in the list, want %d accepted", now, sum, want)
	}
	if a := s.do(t, http.MethodGet, "/readyz", ""); a.status != http.StatusOK {
		t.Errorf("ready: %d %s", a.status, a.body)
	}
}

// checkReadable reads every record that came of it: each answer is valid JSON
// in valid UTF-8.
func (s *service) checkReadable(t *testing.T) {
	t.Helper()
	rows := s.all(t)
	for _, r := range rows {
		a := s.do(t, http.MethodGet, listPath+"/"+r.Signature+"?type="+r.Type, "", "X-Api-Key", s.admin)
		if a.status != http.StatusOK || !utf8.ValidString(a.body) || !json.Valid([]byte(a.body)) {
			t.Errorf("%+v: %d %.1000q", r, a.status, a.body)
		}
	}
	t.Logf("%d records", len(rows))
}

// attempt sends one body, checks the answer and counts it.
func (s *service) attempt(t *testing.T, k key, a attempt, c *tally) {
	t.Helper()
	path, header := a.request(k)
	began := time.Now()
	got, err := s.try(http.MethodPost, path, bytes.NewReader(a.body), header...)
	c.count(a.class, got.status)
	if err != nil {
		t.Errorf("%s: %s: %s: no answer: %v", a.door, a.class, a.name, err)
		return
	}
	good, bad := got.status/100 == 2, got.status/100 == 4
	right := map[outcome]bool{refused: bad, empty: good, taken: good, either: good || bad}
	if problem := a.door.check(got); problem != "" || !right[a.want] {
		t.Errorf("%s: %s: %s: %d %.300q %s", a.door, a.class, a.name, got.status, got.body, problem)
	}
	if good && (a.want == taken || a.want == either && a.door.tookEvent(got)) {
		c.accepted++
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("%s: %s: %s: answered after %v", a.door, a.class, a.name, took)
	}
}

// tookEvent says whether the answer speaks of one event.
func (d door) tookEvent(a answer) bool {
	return d == native && strings.Contains(a.body, `"accepted":1,`) || d != native && strings.HasPrefix(a.body, `{"id":"`)
}

// maxAnswer is more than any error needs; an answer must not repeat its body.
const maxAnswer = 1000

// check says what is wrong with the form of an answer, "" when nothing is.
func (d door) check(a answer) string {
	if len(a.body) > maxAnswer {
		return fmt.Sprintf("the answer has %d bytes", len(a.body))
	}
	kind := map[bool]string{true: "application/x-protobuf", false: "application/json"}[d == logs]
	if got := a.header.Get("Content-Type"); got != kind {
		return "content type " + got
	}
	if a.status < 400 {
		return ""
	}
	switch d {
	case native:
		var f failure
		if err := json.Unmarshal([]byte(a.body), &f); err != nil {
			return err.Error()
		}
		if httpstatus.Of(errata.Kind(f.Error.Code)) != a.status || f.Error.Message == "" || f.Error.RequestID == "" {
			return "the code does not belong to the status, or message or request id are missing"
		}
	case logs:
		code, text, err := statusOf([]byte(a.body))
		if err != nil || code == 0 || text == "" {
			return fmt.Sprintf("google.rpc.Status %d %q, %v", code, text, err)
		}
	case logsJSON:
		var status struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		}
		if err := json.Unmarshal([]byte(a.body), &status); err != nil || status.Code == 0 || status.Message == "" {
			return fmt.Sprintf("google.rpc.Status %+v, %v", status, err)
		}
	default:
		var e struct {
			Detail string   `json:"detail"`
			Causes []string `json:"causes"`
		}
		if err := json.Unmarshal([]byte(a.body), &e); err != nil || e.Detail == "" {
			return fmt.Sprintf("no detail: %v", err)
		}
		if a.status == http.StatusBadRequest && (e.Detail != "invalid event envelope" || len(e.Causes) != 1) {
			return "a 400 without its cause"
		}
	}
	return ""
}

// statusOf reads a google.rpc.Status.
func statusOf(body []byte) (code int32, message string, err error) {
	var field easyproto.FieldContext
	for len(body) > 0 && err == nil {
		if body, err = field.NextField(body); err != nil {
			break
		}
		switch field.FieldNum {
		case 1:
			code, _ = field.Int32()
		case 2:
			message, _ = field.String()
		}
	}
	return code, message, err
}
