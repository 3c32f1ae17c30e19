package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// deadService has two pages of refused messages, and notes what it is sent.
func deadService(t *testing.T) (url string, sent *[]string) {
	t.Helper()
	sent = new([]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*sent = append(*sent, r.Method+" "+r.URL.String()+" "+string(body))
		switch {
		case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/replay"):
			fmt.Fprint(w, `{"data":{"replayed":2,"left":[{"id":7,"reason":"it was cut"}]}}`)
		case r.Method == http.MethodPost:
			fmt.Fprint(w, `{"data":{"dropped":1,"left":[]}}`)
		case r.URL.Query().Get("cursor") == "":
			fmt.Fprint(w, `{"data":[{"id":3,"at":"2026-11-21T03:58:25.123Z","subject":"errors.v1.system","reason":"invalid_body","message":"the event is not valid JSON","body":"nonsense","cut":false}]}`)
		case r.URL.Query().Get("cursor") == "3":
			fmt.Fprint(w, `{"data":[{"id":7,"at":"2026-11-21T03:58:26.123Z","subject":"errors.v1.database","reason":"invalid_event","message":"message or exception_class is needed","body":"{}","cut":true}]}`)
		default:
			fmt.Fprint(w, `{"data":[]}`)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, sent
}

func TestDeadCommands(t *testing.T) {
	url, sent := deadService(t)
	at := []string{"--url", url, "--key", "k"}
	got := command(t, nil, append([]string{"dead", "list"}, at...)...)
	if got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	golden(t, "dead-list", got.out)
	got = command(t, nil, append([]string{"dead", "list", "--json", "--limit", "1"}, at...)...)
	if got.code != exitOK || !strings.HasPrefix(got.out, `[{"id":3,`) || strings.Contains(got.out, `"id":7`) {
		t.Errorf("as JSON: %+v", got)
	}
	for _, test := range []struct {
		args      []string
		code      int
		out, sent string
	}{
		{[]string{"replay", "3", "7"}, exitOK, "replayed 2\nleft 7: it was cut\n", `POST ` + deadPath + `/replay {"ids":[3,7]}`},
		{[]string{"replay", "--all"}, exitOK, "replayed 2\nleft 7: it was cut\n", `POST ` + deadPath + `/replay {"all":true}`},
		{[]string{"drop", "3"}, exitOK, "dropped 1\n", `POST ` + deadPath + `/drop {"ids":[3]}`},
		{[]string{"drop"}, exitUsage, "", ""},
		{[]string{"drop", "3", "--all"}, exitUsage, "", ""},
		{[]string{"drop", "x"}, exitUsage, "", ""},
	} {
		*sent = nil
		got := command(t, nil, append(append([]string{"dead"}, test.args...), at...)...)
		if got.code != test.code || got.out != test.out || strings.Join(*sent, "\n") != test.sent {
			t.Errorf("dead %v: %+v, sent %q; want %d %q, sent %q", test.args, got, *sent, test.code, test.out, test.sent)
		}
	}
}
