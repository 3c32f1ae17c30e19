package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/errata-log/errata/test/gate/referee"
)

const (
	errorsPath = "/api/v1/admin/tools/logs/errors"
	// askLimit is the longest time for one request of an administrator.
	askLimit = 15 * time.Second
)

// maxAnswer bounds how much is kept of an answer that is not a success.
const maxAnswer = 4000

// status is an answer that is not a success.
type status struct {
	code int
	text string
}

func (s *status) Error() string { return fmt.Sprintf("answered %d: %s", s.code, s.text) }

// ask sends a request with the admin key and decodes "data" of a success.
func (s *service) ask(ctx context.Context, method, path, body string, data any) error {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	text, err := s.request(ctx, method, path, body)
	if err != nil || data == nil {
		return err
	}
	if err := json.Unmarshal(text, &struct{ Data any }{data}); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

func (s *service) request(ctx context.Context, method, path, body string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+s.addr+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, fmt.Errorf("make a request: %w", err)
	}
	if key := s.adminKey(); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := s.gate.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		return nil, &status{resp.StatusCode, strings.TrimSpace(string(text[:min(len(text), maxAnswer)]))}
	}
	return text, nil
}

// ready says how /readyz answers: "" when the service is ready, else the code
// of the answer, or "no answer".
func (s *service) ready(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := s.request(ctx, http.MethodGet, "/readyz", "")
	var refused *status
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refused):
		var body struct {
			Error struct{ Code string } `json:"error"`
		}
		if json.Unmarshal([]byte(refused.text), &body) == nil && body.Error.Code != "" {
			return body.Error.Code
		}
		return refused.text
	default:
		return "no answer"
	}
}

// awaitUp waits until the service answers, ready or degraded, and reads the
// admin key, which the first start makes.
func (s *service) awaitUp(ctx context.Context) error {
	err := s.poll(ctx, readyLimit, func(ctx context.Context) bool {
		code := s.ready(ctx)
		return code == "" || code == "degraded"
	})
	if err != nil {
		return fmt.Errorf("the service is not up: %w", err)
	}
	return s.readAdmin()
}

func (s *service) readAdmin() error {
	key, err := s.key("admin.key")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.admin = key
	return err
}

// adminKey is the admin key, "" before the first start. Others ask with it while a
// restart reads it again.
func (s *service) adminKey() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.admin
}

// check is one of the service's own checks.
type check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Hint   string `json:"hint"`
}

// failing are the checks that fail, as "errata doctor" would show them.
func (s *service) failing(ctx context.Context) (map[string]check, error) {
	var answer struct{ Checks []check }
	if err := s.ask(ctx, http.MethodGet, "/api/v1/admin/ops/status", "", &answer); err != nil {
		return nil, err
	}
	failing := map[string]check{}
	for _, c := range answer.Checks {
		if !c.OK {
			failing[c.Name] = c
		}
	}
	return failing, nil
}

// list reads all records, in an order that new events do not change. In the order
// of the last event a record could move to the next page and be listed twice.
func (s *service) list(ctx context.Context) (all []referee.Record, err error) {
	for page := 1; page != 0; {
		var answer struct {
			Data []referee.Record `json:"data"`
			Meta struct {
				NextPage int `json:"next_page"`
			} `json:"meta"`
		}
		text, err := s.request(ctx, http.MethodGet, fmt.Sprintf("%s?limit=100&order=id&direction=asc&page=%d", errorsPath, page), "")
		if err != nil {
			return nil, fmt.Errorf("list the records: %w", err)
		}
		if err := json.Unmarshal(text, &answer); err != nil {
			return nil, fmt.Errorf("list the records: %w", err)
		}
		all, page = append(all, answer.Data...), answer.Meta.NextPage
	}
	return all, nil
}

// detail reads one record with its payload.
func (s *service) detail(ctx context.Context, signature string) (r referee.Record, err error) {
	err = s.ask(ctx, http.MethodGet, errorsPath+"/"+signature, "", &r)
	return r, err
}

// trend is how often the record was seen in the hours of a week, in which all
// events of a run lie.
func (s *service) trend(ctx context.Context, signature string) (total int, err error) {
	var answer struct{ Total int }
	err = s.ask(ctx, http.MethodGet, errorsPath+"/"+signature+"/trend?range=7d", "", &answer)
	return answer.Total, err
}

// barrier returns when everything that was answered before is visible: a
// command that is appended behind it has been answered.
func (s *service) barrier(ctx context.Context, limit time.Duration) error {
	body := `{"signatures":["` + strings.Repeat("0", 32) + `"]}`
	var last error
	err := s.poll(ctx, limit, func(ctx context.Context) bool {
		err := s.ask(ctx, http.MethodDelete, errorsPath, body, nil)
		if ctx.Err() == nil || last == nil {
			last = err
		}
		return err == nil
	})
	if err != nil {
		return fmt.Errorf("the records do not reach the end of the log: %w (%w)", err, last)
	}
	return nil
}

// views are the queries of lists that together read every ClickHouse projection
// and every index of the records.
var views = []string{
	"", "?order=first_seen", "?order=count", "?order=id&direction=asc", "?order=level", "?order=message",
	"?search=broke", "?search=problem", "?exception_class=Problem*", "?user_id=1", "?ip=10.0.0.0/8",
	"?date_range=today", "?levels=error&order=count", "?types=system", "?file=app.go", "?min_occurrence=2",
	"?signature=" + strings.Repeat("0", 32),
}

// viewsAnswer sends all of them and returns the first error.
func (s *service) viewsAnswer(ctx context.Context) error {
	for _, query := range views {
		if err := s.view(ctx, query); err != nil {
			return fmt.Errorf("list%s: %w", query, err)
		}
	}
	return nil
}

// view asks for a list.
func (s *service) view(ctx context.Context, query string) error {
	return s.ask(ctx, http.MethodGet, errorsPath+query, "", nil)
}

// find returns the record of the class, the zero record when the list has none.
func (s *service) find(ctx context.Context, class string) (referee.Record, error) {
	var rows []referee.Record
	err := s.ask(ctx, http.MethodGet, errorsPath+"?limit=100&exception_class="+url.QueryEscape(class), "", &rows)
	for _, r := range rows {
		if r.Class == class {
			return r, err
		}
	}
	return referee.Record{}, err
}
