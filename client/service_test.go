package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/client"
	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/test/servicetest"
)

const listPath = "/api/v1/admin/tools/logs/errors"

// row holds the compared fields of a record.
type row struct {
	Type, Level, Class, Message, File, URI, Method, IP string
	Line                                               int
	User                                               int64
	Count                                              uint64
}

// records waits until the service shows want events, and returns the records by
// message.
func records(t *testing.T, s *servicetest.Service, want uint64) (rows map[string]row, signatures map[string]string) {
	t.Helper()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	late := time.After(never)
	for {
		var found struct {
			Data []struct {
				Signature      string `json:"signature"`
				Type           string `json:"type"`
				Level          string `json:"level"`
				Count          uint64 `json:"count"`
				File           string `json:"file"`
				Line           int    `json:"line"`
				MessagePreview string `json:"message_preview"`
				ExceptionClass string `json:"exception_class"`
				RequestURI     string `json:"request_uri"`
				RequestMethod  string `json:"request_method"`
				UserID         int64  `json:"user_id"`
				IP             string `json:"ip"`
			} `json:"data"`
		}
		get(t, s, "?limit=100", &found)
		rows, signatures = map[string]row{}, map[string]string{}
		var sightings uint64
		for _, r := range found.Data {
			sightings += r.Count
			rows[r.MessagePreview] = row{
				r.Type, r.Level, r.ExceptionClass, r.MessagePreview, r.File, r.RequestURI, r.RequestMethod, r.IP, r.Line, r.UserID, r.Count,
			}
			signatures[r.MessagePreview] = r.Signature
		}
		if sightings >= want {
			return rows, signatures
		}
		select {
		case <-poll.C:
		case <-late:
			t.Fatalf("%d of %d sightings are in the list", sightings, want)
		}
	}
}

func get(t *testing.T, s *servicetest.Service, query string, into any) {
	t.Helper()
	req, err := servicetest.NewRequest(http.MethodGet, s.URL+listPath+query, nil, "Authorization", "Bearer "+s.Admin)
	if err != nil {
		t.Fatal(err)
	}
	resp, body, err := servicetest.Send(s.HTTP, req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%v %s", err, body)
	}
	if err := json.Unmarshal([]byte(body), into); err != nil {
		t.Fatal(err)
	}
}

// TestRunningService is an application with the DSN of the first start: a
// nested error, a message, a panic in a request, a line of slog, and a time
// without the service.
func TestRunningService(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	s := servicetest.Start(t, data)
	c, err := client.New(client.Options{
		DSN: s.File(t, datadir.DSNFile), Release: "1.4.2", MaxBackoff: 200 * time.Millisecond,
		OnError: func(err error) { t.Log("the client says:", err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	want := captureEverything(t, c)
	flush(t, c)
	got, signatures := records(t, s, 7)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	checkPayload(t, s, signatures["checkout: order 41: out of tea"])
	checkAway(t, s, c)
	closeIt(t, c)
	if stats := c.Stats(); stats.Lost() != 0 || stats.Sent != 7+200 {
		t.Errorf("%+v", stats)
	}
	checkKeys(t, s)
}

// captureEverything captures 7 events and returns their records.
func captureEverything(t *testing.T, c *client.Client) map[string]row {
	const file = "client/service_test.go"
	want := map[string]row{}
	at := 0
	for i := range 3 {
		// A message with another number is the same problem.
		at = line() + 1
		c.Capture(t.Context(), fmt.Errorf("checkout: %w", &orderError{41 + i, &stockError{"tea"}}), client.WithUser("1204"), client.With("cart", []int{i}))
	}
	want["checkout: order 41: out of tea"] = row{
		Type: "system", Level: "error", Class: "*client_test.stockError", Message: "checkout: order 41: out of tea", File: file, Line: at, User: 1204, Count: 3,
	}
	at = line() + 1
	c.CaptureMessage(t.Context(), "queue is full", client.WithLevel(client.LevelWarning))
	want["queue is full"] = row{Type: "system", Level: "warning", Message: "queue is full", File: file, Line: at, Count: 1}

	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/checkout?page=2", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.RemoteAddr = "203.0.113.9:4711"
	func() {
		defer c.Recover(t.Context(), client.WithRequest(r))
		at = line() + 1
		panic("no more tea")
	}()
	want["no more tea"] = row{
		Type: "system", Level: "fatal", Class: "panic", Message: "no more tea", File: file, Line: at, URI: "/checkout?page=2", Method: "POST", IP: "203.0.113.9", Count: 1,
	}
	log := slog.New(c.Handler(client.HandlerOptions{}))
	for i := range 2 {
		at = line() + 1
		log.Error("cannot save", "order", 40+i, "err", errors.Join(errPlain, &stockError{"ink"}))
	}
	want["cannot save: plain"] = row{
		Type: "system", Level: "error", Class: "*client_test.stockError", Message: "cannot save: plain", File: file, Line: at, Count: 2,
	}
	return want
}

// checkPayload checks the context of the first event, field by field.
func checkPayload(t *testing.T, s *servicetest.Service, signature string) {
	t.Helper()
	var detail struct {
		Data struct {
			Payload struct {
				Source, Message string
				EventID         string `json:"event_id"`
				Exceptions      []struct {
					Class, Message string
					Frames         []client.Frame
				}
				Extra map[string]any
			}
		}
	}
	get(t, s, "/"+signature, &detail)
	p := detail.Data.Payload
	wantExtra := map[string]any{
		"release": "1.4.2", "sdk": "errata-go/1", "handled": true, "cart": []any{0.0},
		"chain": []any{
			map[string]any{"class": "*fmt.wrapError", "message": "checkout: order 41: out of tea", "depth": 0.0},
			map[string]any{"class": "*client_test.orderError", "message": "order 41: out of tea", "depth": 1.0},
			map[string]any{"class": "*client_test.stockError", "message": "out of tea", "depth": 2.0},
		},
	}
	if diff := cmp.Diff(wantExtra, p.Extra); diff != "" {
		t.Errorf("extra (-want +got):\n%s", diff)
	}
	if p.Source != "native" || p.Message != "checkout: order 41: out of tea" || len(p.EventID) != 32 || len(p.Exceptions) != 1 {
		t.Fatalf("payload %+v", p)
	}
	x := p.Exceptions[0]
	last := x.Frames[len(x.Frames)-1]
	if x.Class != "*client_test.stockError" || last.Function != "captureEverything" || last.File != "client/service_test.go" || !last.InApp || x.Frames[0].InApp {
		t.Errorf("exception %+v", x)
	}
}

// checkAway stops the service, captures 200 errors, and starts it again.
func checkAway(t *testing.T, s *servicetest.Service, c *client.Client) {
	t.Helper()
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		c.Capture(t.Context(), fmt.Errorf("parcel %d is lost while nobody listens", i))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := c.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("flush without a service: %v", err)
	}
	again := servicetest.Start(t, s.Data, func(o *app.Options) { o.Listen = at.Host })
	flush(t, c)
	got, _ := records(t, again, 207)
	if r := got["parcel 0 is lost while nobody listens"]; r.Count != 200 {
		t.Errorf("%d of 200 are counted: %+v", r.Count, got)
	}
	*s = *again
}

// checkKeys sends with the text of a key, and with a wrong one.
func checkKeys(t *testing.T, s *servicetest.Service) {
	t.Helper()
	public, _, _ := strings.Cut(strings.TrimPrefix(s.File(t, datadir.DSNFile), "http://"), "@")
	for _, o := range []client.Options{
		{URL: s.URL, Key: s.Ingest},
		{DSN: strings.Replace(s.File(t, datadir.DSNFile), public, s.Ingest, 1)},
		{DSN: strings.Replace(s.File(t, datadir.DSNFile), public, strings.Repeat("0", 32), 1)},
	} {
		c, err := client.New(o)
		if err != nil {
			t.Fatal(err)
		}
		c.CaptureMessage(t.Context(), "hello")
		closeIt(t, c)
		want := uint64(1)
		if strings.Contains(o.DSN, "00000000") {
			want = 0
		}
		if stats := c.Stats(); stats.Sent != want || stats.Dropped[client.DroppedRefused] != 1-want {
			t.Errorf("%+v", stats)
		}
	}
}
