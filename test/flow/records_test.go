package flow

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// visibleTimeout is far longer than an event takes into the list.
const visibleTimeout = 30 * time.Second

// record is a record as the API shows it: the fields of the contract in their
// order, then the two of the status.
type record struct {
	ID             uint64    `json:"id"`
	Signature      string    `json:"signature"`
	Type           string    `json:"type"`
	Level          string    `json:"level"`
	Count          uint64    `json:"count"`
	FirstSeen      time.Time `json:"first_seen"`
	LastSeen       time.Time `json:"last_seen"`
	File           string    `json:"file"`
	Line           int       `json:"line"`
	MessagePreview string    `json:"message_preview"`
	ExceptionClass string    `json:"exception_class"`
	RequestURI     string    `json:"request_uri"`
	RequestMethod  string    `json:"request_method"`
	UserID         int64     `json:"user_id"`
	IP             string    `json:"ip"`
	Status         string    `json:"status"`
	Regressed      bool      `json:"regressed"`
	Project        string    `json:"project"`
	ProjectID      uint64    `json:"project_id"`
	Users          uint64    `json:"users"`
	Environments   []string  `json:"environments"`
	Releases       []string  `json:"releases"`
	Overflow       bool      `json:"overflow"`
}

// detailed is a record with the context of its first event.
type detailed struct {
	record
	Payload json.RawMessage `json:"payload"`
}

// meta is the place of a page in its list.
type meta struct {
	Total    uint64 `json:"total"`
	Page     int    `json:"page"`
	Limit    int    `json:"limit"`
	NextPage int    `json:"next_page"`
	Scoped   bool   `json:"scoped"`
}

const listPath = "/api/v1/admin/tools/logs/errors"

// list asks for one page. Unknown fields fail the test.
func (s *service) list(t *testing.T, query string) ([]record, meta) {
	t.Helper()
	var page struct {
		Data []record `json:"data"`
		Meta meta     `json:"meta"`
	}
	a := s.do(t, http.MethodGet, listPath+"?"+query, "", "Authorization", "Bearer "+s.admin)
	if a.status != http.StatusOK {
		t.Fatalf("list %s: %d %s", query, a.status, a.body)
	}
	decode(t, a.body, &page)
	return page.Data, page.Meta
}

// all lists every record, oldest first.
func (s *service) all(t *testing.T) (rows []record) {
	t.Helper()
	for page := 1; page != 0; {
		some, at := s.list(t, fmt.Sprintf("order=id&direction=asc&limit=100&page=%d", page))
		rows = append(rows, some...)
		page = at.NextPage
	}
	return rows
}

// detail asks for one record with its payload.
func (s *service) detail(t *testing.T, signature, book string) detailed {
	t.Helper()
	var found struct {
		Data detailed `json:"data"`
	}
	a := s.do(t, http.MethodGet, listPath+"/"+signature+"?type="+book, "", "Authorization", "Bearer "+s.admin)
	if a.status != http.StatusOK {
		t.Fatalf("detail of %s in %s: %d %s", signature, book, a.status, a.body)
	}
	decode(t, a.body, &found)
	return found.Data
}

// newRecords are the records made since the last call, oldest first, when
// everything sent is in the list.
func (s *service) newRecords(t *testing.T) []record {
	t.Helper()
	s.settle(t)
	var rows []record
	for page := 1; page != 0; { // the newest first, or each call would read all records
		some, at := s.list(t, fmt.Sprintf("order=id&direction=desc&limit=20&page=%d", page))
		page = at.NextPage
		for _, r := range some {
			if r.ID <= s.seen {
				page = 0
				break
			}
			rows = append(rows, r)
		}
	}
	if len(rows) > 0 {
		s.seen = rows[0].ID
	}
	slices.Reverse(rows)
	return rows
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%v in %.1000s", err, text)
	}
}

// sums are the counters that say how far the service is.
type sums struct{ accepted, appended, folded, duplicate float64 }

// settle waits until everything that was answered is in the list.
func (s *service) settle(t *testing.T) sums {
	t.Helper()
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	late := time.After(visibleTimeout)
	for {
		now := s.sums(t)
		if now.appended == now.folded+now.duplicate {
			return now
		}
		select {
		case <-poll.C:
		case <-late:
			t.Fatalf("after %v the service is at %+v", visibleTimeout, now)
		}
	}
}

func (s *service) sums(t *testing.T) sums {
	t.Helper()
	values := s.metrics(t)
	return sums{
		accepted: values["errata_events_accepted_total"], appended: values["errata_log_events_appended_total"],
		folded: values["errata_events_folded_total"], duplicate: values["errata_events_duplicate_total"],
	}
}

// metrics are the samples of the service, summed over their labels.
func (s *service) metrics(t *testing.T) map[string]float64 {
	t.Helper()
	a := s.do(t, http.MethodGet, "/metrics", "")
	if a.status != http.StatusOK {
		t.Fatalf("metrics: %d %s", a.status, a.body)
	}
	values := map[string]float64{}
	lines := bufio.NewScanner(strings.NewReader(a.body))
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), " ")
		if brace := strings.IndexByte(lines.Text(), '{'); brace >= 0 {
			name, value, ok = lines.Text()[:brace], lines.Text()[strings.LastIndexByte(lines.Text(), ' ')+1:], true
		}
		if !ok || strings.HasPrefix(name, "#") {
			continue
		}
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatalf("metrics: %q: %v", lines.Text(), err)
		}
		values[name] += number
	}
	return values
}

// key is an ingest key as an application gets it.
type key struct {
	project int
	public  string // the key in the DSN
	text    string // the bearer token
	dsn     string
}

// newKey makes an ingest key for a project of its own.
func (s *service) newKey(t *testing.T, project int) key {
	t.Helper()
	a := s.do(t, http.MethodPost, "/api/v1/admin/keys", fmt.Sprintf(`{"name":"app %d","kind":"ing","project":%d}`, project, project),
		"Authorization", "Bearer "+s.admin)
	if a.status != http.StatusCreated {
		t.Fatalf("make a key: %d %s", a.status, a.body)
	}
	var made struct {
		Data struct {
			Key string `json:"key"`
			DSN string `json:"dsn"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(a.body), &made); err != nil {
		t.Fatal(err)
	}
	return keyOf(t, made.Data.DSN, made.Data.Key)
}

// firstKey is the ingest key of the first start.
func (s *service) firstKey(t *testing.T) key {
	t.Helper()
	return keyOf(t, s.file(t, "keys/dsn"), s.ingest)
}

// keyOf takes a DSN apart: http://KEY@host/PROJECT.
func keyOf(t *testing.T, dsn, text string) key {
	t.Helper()
	_, rest, _ := strings.Cut(dsn, "://")
	public, rest, ok := strings.Cut(rest, "@")
	project, err := strconv.Atoi(rest[strings.LastIndexByte(rest, '/')+1:])
	if !ok || err != nil || len(public) != 32 {
		t.Fatalf("DSN %q: %v", dsn, err)
	}
	return key{project: project, public: public, text: text, dsn: dsn}
}

// indented is a JSON text for people to read and compare.
func indented(t *testing.T, text json.RawMessage) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		t.Fatalf("%v in %.1000s", err, text)
	}
	return out.String()
}
