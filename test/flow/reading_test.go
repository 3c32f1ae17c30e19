package flow

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/test/servicetest"
)

// TestReading reads 60 records as an administrator's program does.
func TestReading(t *testing.T) {
	// The limit for failed keys uses this clock too.
	clock := servicetest.NewClock(at(t, "2026-11-21T03:00:00Z"), time.Microsecond)
	s := start(t, func(o *app.Options) { o.Now = clock.Now })
	fill(t, s, clock.Now())
	t.Run("pages", func(t *testing.T) { pagesHoldEveryRecordOnce(t, s) })
	t.Run("parameters", func(t *testing.T) { parametersAreMovedOrRefused(t, s) })
	t.Run("shape", func(t *testing.T) { answersHaveTheShape(t, s) })
	t.Run("detail", func(t *testing.T) { detailFindsByBook(t, s) })
	t.Run("keys", func(t *testing.T) { keysAreAskedFor(t, s) })
}

const total = 60

// letters writes a number without digits, which the signature would replace.
func letters(n int) string { return string(rune('a'+n/26)) + string(rune('a'+n%26)) }

// fill makes 60 records, a third of them in the book database. The last time of
// each is a second before that of the one before; every tenth shares its time
// with its neighbour.
func fill(t *testing.T, s *service, now time.Time) {
	t.Helper()
	var lines strings.Builder
	now = now.Truncate(time.Second)
	for i := range total {
		back := i
		if i%10 == 1 {
			back = i - 1
		}
		book := "system"
		if i%3 == 0 {
			book = "database"
		}
		fmt.Fprintf(&lines, `{"time":%q,"type":%q,"message":"it broke","exception_class":"Error_%s","file":"src/%s.go","line":%d,"request_uri":"/p?page=%d","request_method":"get","user_id":%d,"ip":"203.0.113.%d"}`+"\n",
			now.Add(-time.Duration(back)*time.Second).Format(time.RFC3339), book, letters(i), letters(i), i, i, i, i)
	}
	a := s.do(t, http.MethodPost, "/api/v1/events", lines.String(), "Authorization", "Bearer "+s.ingest)
	if a.status != http.StatusAccepted || strings.TrimSpace(a.body) != `{"data":{"accepted":60,"rejected":[],"adjusted":[]}}` {
		t.Fatalf("%d %s", a.status, a.body)
	}
	s.settle(t)
}

func pagesHoldEveryRecordOnce(t *testing.T, s *service) {
	var ids []uint64
	var rows []record
	for page, size := range []int{25, 25, 10} {
		query := ""
		if page > 0 {
			query = fmt.Sprintf("page=%d", page+1)
		}
		some, at := s.list(t, query)
		next := page + 2
		if page == 2 {
			next = 0
		}
		if want := (meta{Total: total, Page: page + 1, Limit: 25, NextPage: next}); at != want || len(some) != size {
			t.Errorf("page %d: %d records, %+v, want %d and %+v", page+1, len(some), at, size, want)
		}
		rows = append(rows, some...)
	}
	for i, r := range rows {
		ids = append(ids, r.ID)
		if i == 0 {
			continue
		}
		before := rows[i-1]
		if r.LastSeen.After(before.LastSeen) || r.LastSeen.Equal(before.LastSeen) && r.ID >= before.ID {
			t.Errorf("row %d (%v, id %d) stands behind %v, id %d: want the latest first, ties by id", i, r.LastSeen, r.ID, before.LastSeen, before.ID)
		}
	}
	if slices.Sort(ids); len(slices.Compact(ids)) != total {
		t.Errorf("%d different records on the pages, want %d", len(slices.Compact(ids)), total)
	}
	reversed, _ := s.list(t, "direction=asc&limit=100")
	slices.Reverse(reversed)
	if diff := cmp.Diff(rows, reversed); diff != "" {
		t.Errorf("ascending is not descending reversed (-want +got):\n%s", diff)
	}
}

func parametersAreMovedOrRefused(t *testing.T, s *service) {
	for _, c := range []struct {
		query string
		want  meta
		rows  int
	}{
		{"limit=0", meta{total, 1, 25, 2, false}, 25},
		{"limit=-5&page=-1", meta{total, 1, 25, 2, false}, 25},
		{"limit=1000", meta{total, 1, 100, 0, false}, 60},
		{"limit=30&page=2", meta{total, 2, 30, 0, false}, 30},
		{"limit=59", meta{total, 1, 59, 2, false}, 59},
		{"limit=60", meta{total, 1, 60, 0, false}, 60},
		{"page=99", meta{total, 99, 25, 0, false}, 0},
		{"types=database", meta{20, 1, 25, 0, false}, 20},
		{"types=System,DATABASE", meta{total, 1, 25, 2, false}, 25},
		{"search=error_ab", meta{1, 1, 25, 0, false}, 1},
		{"levels=fatal", meta{0, 1, 25, 0, false}, 0},
		{"types[]=database", meta{20, 1, 25, 0, false}, 20},
	} {
		if rows, at := s.list(t, c.query); at != c.want || len(rows) != c.rows {
			t.Errorf("%s: %d records, %+v, want %d and %+v", c.query, len(rows), at, c.rows, c.want)
		}
	}
	for query, code := range map[string]string{
		"page=x": "invalid_page", "limit=1.5": "invalid_limit", "order=size": "invalid_order", "direction=up": "invalid_direction",
		"types=other": "invalid_type", "levels=error,loud": "invalid_level", "status=gone": "invalid_status", "date_range=soon": "invalid_date_range",
		"ip=300.1.1.1": "invalid_ip", "signature=xyz": "signature_required", "nothing=known": "unknown_parameter",
	} {
		s.refused(t, http.MethodGet, listPath+"?"+query, s.admin, http.StatusUnprocessableEntity, code)
	}
}

// refused expects the error envelope with the code, and returns it.
func (s *service) refused(t *testing.T, method, path, key string, status int, code string) (f failure) {
	t.Helper()
	var header []string
	if key != "" {
		header = []string{"Authorization", "Bearer " + key}
	}
	a := s.do(t, method, path, "", header...)
	if a.status != status || a.header.Get("Content-Type") != "application/json" {
		t.Errorf("%s %s: %d as %s, want %d: %s", method, path, a.status, a.header.Get("Content-Type"), status, a.body)
	}
	decode(t, a.body, &f)
	if f.Error.Code != code || f.Error.Message == "" || f.Error.RequestID == "" || f.Error.RequestID != a.header.Get("X-Request-Id") {
		t.Errorf("%s %s: %s, want code %s with a message and the request id", method, path, a.body, code)
	}
	return f
}

// failure is the error envelope of the API and of the native receiver.
type failure struct {
	Error struct {
		Code      string          `json:"code"`
		Message   string          `json:"message"`
		Details   json.RawMessage `json:"details"`
		RequestID string          `json:"request_id"`
	} `json:"error"`
}

// answersHaveTheShape checks the names, the order and the notation of the fields
// that programs read.
func answersHaveTheShape(t *testing.T, s *service) {
	a := s.do(t, http.MethodGet, listPath+"?limit=1", "", "X-Api-Key", s.admin)
	want := regexp.MustCompile(`^\{"data":\[\{"id":\d+,"signature":"[0-9a-f]{32}","type":"(system|database)","level":"error","count":1,` +
		`"first_seen":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","last_seen":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z",` +
		`"file":"src/\w+\.go","line":\d+,"message_preview":"it broke","exception_class":"Error_\w+","request_uri":"/p\?page=\d+","request_method":"GET",` +
		`"user_id":\d+,"ip":"203\.0\.113\.\d+","status":"open","regressed":false,"project":"default","project_id":1,"users":\d+,"environments":\[\],"releases":\[\],"overflow":false\}\],"meta":\{"total":60,"page":1,"limit":1,"next_page":2,"scoped":false\}\}\s*$`)
	if a.status != http.StatusOK || !want.MatchString(a.body) {
		t.Errorf("list: %d %s", a.status, a.body)
	}
	if got := a.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("list: content type %q", got)
	}
	rows, _ := s.list(t, "limit=1")
	a = s.do(t, http.MethodGet, listPath+"/"+rows[0].Signature+"?type="+rows[0].Type, "", "X-Api-Key", s.admin)
	want = regexp.MustCompile(`^\{"data":\{"id":.*"regressed":false,"project":"default",.*"overflow":false,"payload":\{"source":"native","message":"it broke",.*\}\}\}\s*$`)
	if a.status != http.StatusOK || !want.MatchString(a.body) || strings.Contains(a.body, `"meta"`) {
		t.Errorf("detail: %d %s", a.status, a.body)
	}
	if a := s.do(t, http.MethodHead, listPath, "", "X-Api-Key", s.admin); a.status != http.StatusOK || a.body != "" {
		t.Errorf("HEAD: %d %q", a.status, a.body)
	}
}

func detailFindsByBook(t *testing.T, s *service) {
	for _, book := range []string{"system", "database"} {
		rows, _ := s.list(t, "limit=1&types="+book)
		s.checkBooks(t, rows[0])
		upper := s.detail(t, strings.ToUpper(rows[0].Signature), strings.ToUpper(book))
		if diff := cmp.Diff(rows[0], upper.record); diff != "" {
			t.Errorf("in capitals (-list +detail):\n%s", diff)
		}
		// Without a type the book is system.
		a := s.do(t, http.MethodGet, listPath+"/"+rows[0].Signature, "", "X-Api-Key", s.admin)
		if (a.status == http.StatusOK) != (book == "system") {
			t.Errorf("%s record without a type: %d %s", book, a.status, a.body)
		}
	}
	for path, want := range map[string]struct {
		status int
		code   string
	}{
		"/" + strings.Repeat("0", 32):                      {404, "not_found"},
		"/" + strings.Repeat("0", 32) + "?type=database":   {404, "not_found"},
		"/" + strings.Repeat("0", 31):                      {422, "signature_required"},
		"/" + strings.Repeat("0", 33):                      {422, "signature_required"},
		"/" + strings.Repeat("g", 32):                      {422, "signature_required"},
		"/" + strings.Repeat("%20", 32):                    {422, "signature_required"},
		"/" + strings.Repeat("0", 32) + "?type=everything": {422, "invalid_type"},
		"/" + strings.Repeat("0", 32) + "/more":            {404, "not_found"},
	} {
		s.refused(t, http.MethodGet, listPath+path, s.admin, want.status, want.code)
	}
}

// keysAreAskedFor runs last: it uses up the failures that this address may have.
func keysAreAskedFor(t *testing.T, s *service) {
	ops := s.keyOfKind(t, "ops")
	for path, scope := range map[string]string{listPath: "Tools/GetErrorLogs", listPath + "/" + strings.Repeat("0", 32): "Tools/GetErrorLog"} {
		for _, key := range []string{s.ingest, ops} {
			f := s.refused(t, http.MethodGet, path, key, http.StatusForbidden, "insufficient_scope")
			if string(f.Error.Details) != fmt.Sprintf(`{"scope":%q}`, scope) {
				t.Errorf("%s: details %s, want the scope %s", path, f.Error.Details, scope)
			}
		}
	}
	s.refused(t, http.MethodPatch, listPath, s.admin, http.StatusMethodNotAllowed, "method_not_allowed")
	s.refused(t, http.MethodGet, "/api/v1/admin/nowhere", s.admin, http.StatusNotFound, "not_found")

	// No key and every key that does not work get the same answer.
	last := map[bool]string{true: "0", false: "1"}[strings.HasSuffix(s.admin, "1")]
	const failuresAllowed = 10
	wrong := []string{"", "nonsense", s.admin + "x", s.admin[:len(s.admin)-1] + last, strings.Repeat("a", 4000)}
	message := ""
	for i := range failuresAllowed {
		f := s.refused(t, http.MethodGet, listPath, wrong[i%len(wrong)], http.StatusUnauthorized, "unauthorized")
		if message == "" {
			message = f.Error.Message
		}
		if f.Error.Message != message || f.Error.Details != nil {
			t.Errorf("wrong key %d: %+v, want %q and nothing more", i, f.Error, message)
		}
	}
	s.refused(t, http.MethodGet, listPath, "nonsense", http.StatusTooManyRequests, "rate_limited")
	if _, at := s.list(t, ""); at.Total != total {
		t.Errorf("with a working key: %+v", at)
	}
}

// keyOfKind makes a key.
func (s *service) keyOfKind(t *testing.T, kind string) string {
	t.Helper()
	a := s.do(t, http.MethodPost, "/api/v1/admin/keys", fmt.Sprintf(`{"name":"another","kind":%q}`, kind), "Authorization", "Bearer "+s.admin)
	var made struct {
		Data struct {
			Key string `json:"key"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(a.body), &made); err != nil || a.status != http.StatusCreated {
		t.Fatalf("make a key: %d %s, %v", a.status, a.body, err)
	}
	return made.Data.Key
}
