package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// auditAnswers is a service that answers each path with a text.
func auditAnswers(t *testing.T, answers map[string]string) (url string, asked *[]string) {
	t.Helper()
	asked = new([]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.URL.String())
		if r.Header.Get("Authorization") != "Bearer k" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		fmt.Fprint(w, answers[r.URL.Path])
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func TestAuditVerifyCommand(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		code   int
		says   string
	}{
		"good":             {`{"data":{"ok":true,"entries":3,"head":"ab","problem":null}}`, exitOK, "3 entries, none changed or missing\nhash of the last one ab\n"},
		"of others":        {`{"data":{"ok":true,"entries":3,"head":"ab","foreign":2,"problem":null}}`, exitOK, "2 of them were put there by somebody else"},
		"empty":            {`{"data":{"ok":true,"entries":0,"head":"","problem":null}}`, exitOK, "0 entries"},
		"broken":           {`{"data":{"ok":false,"entries":3,"head":"ab","problem":{"n":4,"reason":"it was changed"}}}`, exitFailed, "broken at entry 4: it was changed; 3 entries before it are good"},
		"broken, no words": {`{"data":{"ok":false,"entries":3}}`, exitFailed, "broken at entry 4"},
		"nothing of ours":  {`<html>`, exitFailed, "not Errata's"},
		"no data":          {`{}`, exitFailed, "broken"},
	} {
		url, _ := auditAnswers(t, map[string]string{auditPath + "/verify": c.answer})
		got := command(t, nil, "audit", "verify", "--url", url, "--key", "k")
		if got.code != c.code || !strings.Contains(got.out+got.err, c.says) {
			t.Errorf("%s: %+v, want code %d and %q", name, got, c.code, c.says)
		}
	}
}

func TestAuditListCommand(t *testing.T) {
	const entries = `[{"n":8,"time":"2026-11-21T03:58:25.123Z","action":"errors.delete",` +
		`"actor":{"key_id":"000000000007","key_name":"a\u001b[31mda","ip":"192.0.2.1"},"after":null,"request":{"signatures":["00112233445566778899aabbccddeeff","00112233445566778899aabbccddeeff"]}},` +
		`{"n":7,"time":"2026-11-21T03:58:24Z","action":"key.create","actor":{"key_id":"service","key_name":"","ip":""},"after":{"id":"x"},"request":null}]`
	url, asked := auditAnswers(t, map[string]string{auditPath: `{"data":` + entries + `,"meta":{"next_cursor":7}}`})
	got := command(t, nil, "audit", "list", "--url", url, "--key", "k")
	if got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	golden(t, "audit-list", got.out)
	got = command(t, nil, "audit", "list", "--json", "--url", url, "--key", "k",
		"--limit", "2", "--before", "9", "--actor", "a b", "--action", "errors.*", "--from", "2026-11-21T00:00:00Z")
	if got.code != exitOK || got.out != entries+"\n" {
		t.Errorf("%+v", got)
	}
	want := []string{auditPath + "?limit=25", auditPath + "?action=errors.%2A&actor=a+b&cursor=9&from=2026-11-21T00%3A00%3A00Z&limit=2"}
	if strings.Join(*asked, " ") != strings.Join(want, " ") {
		t.Errorf("asked for %q, want %q", *asked, want)
	}
	if got := command(t, nil, "audit", "list", "--url", url, "--key", "wrong"); got.code != exitFailed || !strings.Contains(got.err, "401") {
		t.Errorf("with a wrong key: %+v", got)
	}
}
