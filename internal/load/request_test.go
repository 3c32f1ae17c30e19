package load

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// filled is a request after its placeholders were replaced.
func filled(r *Request) string {
	out := bytes.Clone(r.bytes)
	r.fill(out)
	return string(out)
}

func TestNumbersAreNew(t *testing.T) {
	r := NewRequest("POST", "/in", [][2]string{{"Authorization", "Bearer k"}}, Number+"-"+Number, 2)
	const head = "POST /in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 33\r\nAuthorization: Bearer k\r\n\r\n"
	seen := map[string]bool{}
	for range 1000 {
		body, ok := strings.CutPrefix(filled(&r), head)
		if !ok {
			t.Fatalf("got %q, want it to begin with %q", body, head)
		}
		for number := range strings.SplitSeq(body, "-") {
			if len(number) != 16 || seen[number] {
				t.Fatalf("%q is no new number", number)
			}
			seen[number] = true
		}
	}
	if named := NewRequest("POST", "/", [][2]string{{"Host", "errors.example.test:9000"}}, "", 1); strings.Count(string(named.bytes), "Host: ") != 1 ||
		!strings.Contains(string(named.bytes), "Host: errors.example.test:9000\r\n") {
		t.Errorf("got %q", named.bytes)
	}
}

// TestKeysStay: a key with regular digits is not taken for a placeholder.
func TestKeysStay(t *testing.T) {
	for _, key := range []string{"0123456789abcdef0123456789abcdef", "00000000000000000000000000000001", "e0e1e2e3e4e5e6e7e8e9eaebecedeeef"} {
		r := NewRequest("POST", "/api/1/envelope/", EnvelopeHeader(key), Envelope("http://"+key+"@127.0.0.1/1", time.Now(), Problem), 1).Among(3)
		if got := filled(&r); strings.Count(got, key) != 2 {
			t.Errorf("key %s is not in the head and the envelope of %s", key, got)
		}
	}
}

// envelopeParts are what the tests compare.
type envelopeParts struct {
	headID, id, class, message, function string
}

func parseEnvelope(t *testing.T, request string) (p envelopeParts) {
	t.Helper()
	_, body, _ := strings.Cut(request, "\r\n\r\n")
	lines := strings.Split(body, "\n")
	if len(lines) != 4 || lines[3] != "" {
		t.Fatalf("%d lines in %q", len(lines), body)
	}
	var head struct {
		ID string `json:"event_id"`
	}
	var item struct{ Length int }
	var event struct {
		ID        string `json:"event_id"`
		Exception []struct {
			Type, Value string
			Stacktrace  struct{ Frames []struct{ Function string } }
		}
	}
	for i, into := range []any{&head, &item, &event} {
		if err := json.Unmarshal([]byte(lines[i]), into); err != nil {
			t.Fatalf("line %d: %v", i, err)
		}
	}
	if item.Length != len(lines[2]) {
		t.Errorf("the item says that it has %d bytes, and has %d", item.Length, len(lines[2]))
	}
	thrown := event.Exception[1]
	return envelopeParts{head.ID, event.ID, thrown.Type, thrown.Value, thrown.Stacktrace.Frames[11].Function}
}

func TestEnvelope(t *testing.T) {
	at := time.Date(2026, 11, 21, 3, 18, 40, 608_610_000, time.UTC)
	r := NewRequest("POST", "/api/1/envelope/", EnvelopeHeader("k"), Envelope("http://k@127.0.0.1/1", at, Problem), 1).Among(100)
	ids, classes, messages, functions := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for range 1000 {
		p := parseEnvelope(t, filled(&r))
		if p.id != p.headID || len(p.id) != 32 || ids[p.id] {
			t.Fatalf("the id is %q, in the head %q; want the same new one", p.id, p.headID)
		}
		ids[p.id], classes[p.class], messages[p.message], functions[p.function] = true, true, true, true
	}
	if len(classes) != 100 || len(messages) != 100 || len(functions) != 100 {
		t.Errorf("%d classes, %d messages, %d functions; want 100 problems whichever a server compares", len(classes), len(messages), len(functions))
	}
	for class := range classes {
		if strings.ContainsAny(strings.TrimPrefix(class, "*main.OrderError"), "abcdef0123456789") {
			t.Errorf("class %q has digits, which servers leave out", class)
		}
	}
}

// TestEnvelopeOfOneProblem: it is what the bench has always sent.
func TestEnvelopeOfOneProblem(t *testing.T) {
	at := time.Date(2026, 11, 21, 3, 18, 40, 608_610_000, time.UTC)
	text := Envelope("http://k@127.0.0.1/1", at, "")
	for _, part := range []string{
		`"timestamp":"2026-11-21T03:18:40.608610Z"`, `"sent_at":"2026-11-21T03:18:40.608610000Z"`, `"dsn":"http://k@127.0.0.1/1"`,
		`"type":"*main.OrderError","value":"load order: order 42 failed"`, `"function":"handler11","module"`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%s is not in the envelope", part)
		}
	}
	if n := len(text); n < 3100 || n > 3700 {
		t.Errorf("it has %d bytes", n)
	}
}
