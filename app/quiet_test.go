package app_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestAQuietProjectIsTold: the clock goes on, nothing comes, and a receiver hears of it, also by
// a rule that is made afterwards.
func TestAQuietProjectIsTold(t *testing.T) {
	heard := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		heard <- string(body)
	}))
	defer receiver.Close()
	at, err := url.Parse(receiver.URL)
	if err != nil {
		t.Fatal(err)
	}
	var ahead atomic.Int64
	o := testOptions(t)
	o.AlertAllowHosts = []string{at.Host}
	o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	a := build(t, o)
	run(t, a)
	admin := key(t, a.Welcome().AdminKeyFile)
	create := func(what, body string) string {
		t.Helper()
		status, text := request(t, http.MethodPost, a.Welcome().URL+"/api/v1/admin/alerts/"+what, admin, body)
		var made struct{ Data struct{ ID string } }
		if err := json.Unmarshal([]byte(text), &made); err != nil || status != http.StatusCreated {
			t.Fatalf("make one of %s: %d %s", what, status, text)
		}
		return made.Data.ID
	}
	if status, body := request(t, http.MethodPost, a.Welcome().URL+"/api/v1/events", key(t, a.Welcome().IngestKeyFile), `{"message":"the last one"}`); status != http.StatusAccepted {
		t.Fatalf("event: %d %s", status, body)
	}
	awaitRecords(t, a, func(rows []row) bool { return len(rows) == 1 })
	ahead.Store(int64(62 * time.Minute))
	channel := create("channels", `{"name":"hook","kind":"webhook","url":"`+receiver.URL+`"}`)
	create("rules", `{"name":"quiet","when":{"quiet":{"minutes":60}},"to":["`+channel+`"]}`)
	select {
	case body := <-heard:
		if !strings.Contains(body, `"type":"project.quiet"`) || !strings.Contains(body, `"quiet":{"minutes":6`) || !strings.Contains(body, "/?project=") {
			t.Errorf("heard %s", body)
		}
	case <-time.After(time.Minute):
		t.Error("nobody was told")
	}
}
