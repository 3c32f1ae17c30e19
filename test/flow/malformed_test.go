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

// outcome is the expected outcome of a request.
type outcome int

const (
	// refused: a 4xx in the form of the protocol, and no record.
	refused outcome = iota
	// empty: a 2xx, because the protocol allows the body, and no record.
	empty
	// taken: a 2xx and one event, because the protocol ignores the fault.
	taken
	// either: the fault may be invisible, as in a damaged stream without a
	// checksum. The answer says whether it was seen.
	either
)

// receiver is an HTTP receiver with its own form of an error.
type receiver string

const (
	native   receiver = "native"
	envelope receiver = "envelope"
	store    receiver = "store"
	logs     receiver = "OTLP logs"
	logsJSON receiver = "OTLP logs as JSON"
)

// attempt is one invalid request.
type attempt struct {
	class, name string
	receiver    receiver
	body        []byte
	header      []string // beside the key
	want        outcome
}

// request is path and headers of the receiver.
func (a attempt) request(k key) (path string, header []string) {
	switch a.receiver {
	case native:
		return "/api/v1/events", append([]string{"Authorization", "Bearer " + k.text}, a.header...)
	case logs, logsJSON:
		kind := map[receiver]string{logs: "application/x-protobuf", logsJSON: "application/json"}[a.receiver]
		return "/v1/logs", append([]string{"Authorization", "Bearer " + k.text, "Content-Type", kind}, a.header...)
	default:
		return fmt.Sprintf("/api/%d/%s/", k.project, a.receiver), append([]string{"X-Sentry-Auth", "Sentry sentry_key=" + k.public}, a.header...)
	}
}

// Limits of the memory that thousands of malformed bodies may cost.
const (
	heapGrowth = 32 << 20
	// peakGrowth is for one body after the other, bombs among them: the memory of
	// one request, and the garbage between two collections.
	peakGrowth = 96 << 20
)

// TestMalformedBodies sends to every receiver what SDKs never send; the service
// is a process of its own. Each answer must be in the form of the protocol. No
// panic, no record except where the protocol is lenient on purpose, and no memory
// is kept.
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

// tally counts what was sent and how it was answered.
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

// checkAccepted checks how many events were accepted, and that all but repeats of
// the same id are in the list.
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

// checkReadable reads every resulting record: each answer is valid JSON in valid
// UTF-8.
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
		t.Errorf("%s: %s: %s: no answer: %v", a.receiver, a.class, a.name, err)
		return
	}
	good, bad := got.status/100 == 2, got.status/100 == 4
	right := map[outcome]bool{refused: bad, empty: good, taken: good, either: good || bad}
	if problem := a.receiver.check(got); problem != "" || !right[a.want] {
		t.Errorf("%s: %s: %s: %d %.300q %s", a.receiver, a.class, a.name, got.status, got.body, problem)
	}
	if good && (a.want == taken || a.want == either && a.receiver.tookEvent(got)) {
		c.accepted++
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("%s: %s: %s: answered after %v", a.receiver, a.class, a.name, took)
	}
}

// tookEvent says whether the answer reports one event.
func (d receiver) tookEvent(a answer) bool {
	return d == native && strings.Contains(a.body, `"accepted":1,`) || d != native && strings.HasPrefix(a.body, `{"id":"`)
}

// maxAnswer is more than any error needs; an answer must not repeat its request's
// body.
const maxAnswer = 1000

// check says what is wrong with the form of an answer, "" when nothing is.
func (d receiver) check(a answer) string {
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
