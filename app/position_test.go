package app_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"testing"

	"github.com/errata-log/errata/app"
)

// placed is an answer and the position that it tells.
type placed struct {
	status   int
	position string
	rows     []row
	code     string
}

// ask sends a request with a position, "" for none. wrote is called when the request is on
// its way.
func ask(t *testing.T, a *app.App, method, path, key, body, position string, wrote func()) placed {
	t.Helper()
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { wrote() }})
	req, err := http.NewRequestWithContext(ctx, method, a.Welcome().URL+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return placed{}
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	if position != "" {
		req.Header.Set("X-Errata-Position", position)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return placed{}
	}
	defer resp.Body.Close()
	var answer struct {
		Data  json.RawMessage
		Error struct{ Code string }
	}
	got := placed{status: resp.StatusCode, position: resp.Header.Get("X-Errata-Position")}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Error(err)
	}
	_ = json.Unmarshal(answer.Data, &got.rows) // or it is no list
	got.code = answer.Error.Code
	return got
}

// TestWhoSendsAPositionSeesNoLess: a node whose records are behind, as one of a cluster may
// be, answers when they have what the caller has written.
func TestWhoSendsAPositionSeesNoLess(t *testing.T) {
	const errorsPath = "/api/v1/admin/tools/logs/errors"
	a := build(t, testOptions(t))
	run(t, a)
	admin, ingest := key(t, a.Welcome().AdminKeyFile), key(t, a.Welcome().IngestKeyFile)
	nothing := func() {}
	var event placed
	late := make(chan placed, 1)
	if err := a.HoldRecords(t.Context(), func() {
		event = ask(t, a, http.MethodPost, "/api/v1/events", ingest, `{"id":"1","message":"it broke"}`, "", nothing)
		sent := make(chan struct{})
		go func() {
			late <- ask(t, a, http.MethodGet, errorsPath, admin, "", event.position, func() { close(sent) })
		}()
		<-sent
		if plain := ask(t, a, http.MethodGet, errorsPath, admin, "", "", nothing); plain.status != http.StatusOK || len(plain.rows) != 0 {
			t.Errorf("while the records are behind: %+v, want none", plain)
		}
		select {
		case answer := <-late:
			t.Errorf("the records do not have the event and the answer is %+v", answer)
			late <- answer
		default:
		}
	}); err != nil {
		t.Fatal(err)
	}
	list := <-late
	if list.status != http.StatusOK || len(list.rows) != 1 || !atLeast(list.position, event.position) {
		t.Fatalf("with the position %q of the event: %+v, want its record", event.position, list)
	}
	gone := ask(t, a, http.MethodDelete, errorsPath, admin, `{"signatures":["`+list.rows[0].Signature+`"]}`, list.position, nothing)
	if gone.status != http.StatusOK || !atLeast(gone.position, event.position) || gone.position == event.position {
		t.Fatalf("delete: %+v, want a position behind %s", gone, event.position)
	}
	if after := ask(t, a, http.MethodGet, errorsPath, admin, "", gone.position, nothing); after.status != http.StatusOK || len(after.rows) != 0 || !atLeast(after.position, gone.position) {
		t.Errorf("after the delete: %+v, want none", after)
	}
	if never := ask(t, a, http.MethodGet, errorsPath, admin, "", "9"+gone.position, nothing); never.status != http.StatusUnprocessableEntity || never.code != "unknown_position" {
		t.Errorf("a position that the log does not have: %+v, want 422 unknown_position", never)
	}
}

// atLeast compares positions.
func atLeast(got, least string) bool {
	a, errA := strconv.ParseUint(got, 10, 64)
	b, errB := strconv.ParseUint(least, 10, 64)
	return errA == nil && errB == nil && a >= b
}
