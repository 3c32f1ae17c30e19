package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
)

const toolsList = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`

// TestAgentsMalformedBodies: what is no message of the protocol is refused as every body
// of the API is, and with the JSON-RPC error that the protocol wants.
func TestAgentsMalformedBodies(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	for name, c := range map[string]struct {
		body, header string
		status       int
		want         string
	}{
		"a message":           {toolsList, "", 200, `"list_errors"`},
		"no Accept":           {toolsList, "Accept: text/plain", 200, `"list_errors"`},
		"notification":        {`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "", 202, ""},
		"empty":               {"", "", 400, "invalid_body"},
		"not JSON":            {"{", "", 400, "invalid_body"},
		"a list of messages":  {"[" + toolsList + "]", "", 400, "invalid_body"},
		"null":                {"null", "", 400, "invalid_body"},
		"no version":          {`{"id":1,"method":"tools/list"}`, "", 400, "invalid_body"},
		"no such method":      {`{"jsonrpc":"2.0","id":1,"method":"tools/drop"}`, "", 400, "invalid_body"},
		"method of no text":   {`{"jsonrpc":"2.0","id":1,"method":7}`, "", 400, "invalid_body"},
		"parameters no list":  {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}`, "", 200, `"error"`},
		"no such tool":        {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"drop_errors","arguments":{}}}`, "", 200, `unknown tool`},
		"no such argument":    {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_errors","arguments":{"sql":"1"}}}`, "", 200, `"isError":true`},
		"arguments of a text": {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_errors","arguments":"x"}}`, "", 200, `"isError":true`},
		"long argument":       {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_errors","arguments":{"` + strings.Repeat("x", 60_000) + `":1}}}`, "", 200, `"isError":true`},
		"version unknown":     {toolsList, "Mcp-Protocol-Version: 1999-01-01", 400, "invalid_body"},
		"too large":           {`{"a":"` + strings.Repeat("x", 1<<20) + `"}`, "", 413, "body_too_large"},
		"another type":        {toolsList, "Content-Type: text/plain", 415, "unsupported_media_type"},
		"compressed":          {toolsList, "Content-Encoding: gzip", 415, "unsupported_media_type"},
	} {
		var headers []string
		if c.header != "" {
			headers = []string{c.header}
		}
		w := b.do(request{method: "POST", target: "/mcp", key: key, body: c.body, headers: headers})
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) || c.want == "" && w.Body.Len() > 0 {
			t.Errorf("%s: got %d %.300s, want %d with %q", name, w.Code, w.Body, c.status, c.want)
		}
		if w.Body.Len() > 9<<10 && c.want != `"list_errors"` {
			t.Errorf("%s: the answer has %d bytes", name, w.Body.Len())
		}
	}
	for _, method := range []string{"GET", "DELETE"} { // which clients try, for a stream and the end of a session
		if w := b.do(request{method: method, target: "/mcp", key: key}); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "POST" {
			t.Errorf("%s: got %d, Allow %q", method, w.Code, w.Header().Get("Allow"))
		}
	}
	if strings.Contains(b.log.String(), `"level":"ERROR"`) {
		t.Errorf("logged: %s", b.log)
	}
}

// TestAgentsOrigins: browsers of other origins are refused, also one whose page gave its
// own name the address of the service.
func TestAgentsOrigins(t *testing.T) {
	b := newBench(t, func(c *api.Config) { c.PublicURL = "https://errata.example.com" })
	key := b.key(t, access.Everything)
	for name, c := range map[string]struct {
		target  string
		headers []string
		status  int
	}{
		"no browser":                  {"/mcp", nil, 200},
		"no browser, behind a proxy":  {"http://errata.example.com/mcp", nil, 200},
		"the public address":          {"http://127.0.0.1:8080/mcp", []string{"Origin: https://errata.example.com"}, 200},
		"this machine":                {"http://127.0.0.1:8080/mcp", []string{"Origin: http://127.0.0.1:8080"}, 200},
		"this machine by name":        {"http://localhost:8080/mcp", []string{"Origin: http://localhost:8080"}, 200},
		"this machine, another port":  {"http://localhost:8080/mcp", []string{"Origin: http://localhost:3000"}, 403},
		"another site":                {"http://127.0.0.1:8080/mcp", []string{"Origin: https://evil.example"}, 403},
		"a name that was given to us": {"http://evil.example:8080/mcp", []string{"Origin: http://evil.example:8080"}, 403},
		"the public name, no TLS":     {"http://errata.example.com/mcp", []string{"Origin: http://errata.example.com"}, 403},
		"a frame without an origin":   {"/mcp", []string{"Origin: null"}, 403},
		"two origins":                 {"/mcp", []string{"Origin: https://errata.example.com", "Origin: https://evil.example"}, 403},
		"a request without an origin": {"/mcp", []string{"Sec-Fetch-Site: cross-site"}, 403},
	} {
		w := b.do(request{method: "POST", target: c.target, key: key, body: toolsList, headers: c.headers})
		if w.Code != c.status {
			t.Errorf("%s: got %d %.200s, want %d", name, w.Code, w.Body, c.status)
		}
	}
}

// TestAgentsSpeakForTheirKey: a call is carried out as the same request of the same
// caller, and counts as one.
func TestAgentsSpeakForTheirKey(t *testing.T) {
	b := newBench(t, func(c *api.Config) { c.KeyRate = 6 })
	key := b.key(t, access.ToolsUpdateErrorStatus)
	move := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"set_status","arguments":{"signatures":["` + strings.Repeat("a", 32) + `"],"status":"resolved"}}}`
	w := b.do(request{method: "POST", target: "/mcp", body: move, headers: []string{"X-Api-Key: " + key, "X-Request-Id: turn-7"}})
	if w.Code != http.StatusOK || strings.Contains(w.Body.String(), `"isError":true`) {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
	actor := b.changes.actor
	if actor.IP != "192.0.2.1" || actor.Route != "POST /api/v1/admin/tools/logs/errors/status" || actor.RequestID != "turn-7" || actor.KeyName != "test" {
		t.Errorf("the change was made by %+v", actor)
	}
	for range 2 {
		w = b.do(request{method: "POST", target: "/mcp", key: key, body: move})
	}
	if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "rate_limited") {
		t.Errorf("the sixth request: %d %s", w.Code, w.Body)
	}
	if w = b.do(request{method: "POST", target: "/mcp", key: key, body: move}); w.Code != http.StatusTooManyRequests {
		t.Errorf("the seventh request: %d %s, want 429", w.Code, w.Body)
	}
}
