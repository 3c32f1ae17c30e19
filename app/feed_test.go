package app_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/datadir"
)

// told is a message of the stream.
type told struct {
	Position     uint64
	Records      []row
	More         uint64
	Gone         []struct{ Type, Signature string }
	TotalChanged uint64 `json:"total_changed"`
}

// listen opens the stream of changes and returns its messages, without the
// heartbeats. The channel is closed when the stream ends.
func listen(t *testing.T, a *app.App, key string) <-chan told {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.Welcome().URL+"/api/v1/admin/tools/logs/errors/stream", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("stream: %v, %v", resp, err)
	}
	messages := make(chan told, 100)
	go func() { // ends with the stream
		defer close(messages)
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			text, isData := strings.CutPrefix(lines.Text(), "data: ")
			var m told
			if isData && json.Unmarshal([]byte(text), &m) == nil {
				messages <- m
			}
		}
	}()
	return messages
}

// next is the next message.
func next(t *testing.T, messages <-chan told) told {
	t.Helper()
	select {
	case m, open := <-messages:
		if !open {
			t.Fatal("the stream ended")
		}
		return m
	case <-time.After(visibleTimeout):
		t.Fatal("nothing is told")
		return told{}
	}
}

// TestStreamOfChanges: every stream tells what is sent, moved, deleted and cleaned up,
// and a stop of the service does not wait for the streams.
//
// long: the life of two records, whose steps build on each other.
func TestStreamOfChanges(t *testing.T) {
	o := testOptions(t)
	a := build(t, o)
	stop := run(t, a)
	files := keyFiles(t, o.Data)
	admin := files[datadir.AdminKeyFile]
	one, two := listen(t, a, admin), listen(t, a, admin)
	for _, messages := range []<-chan told{one, two} {
		if m := next(t, messages); m.Records != nil || m.TotalChanged != 0 {
			t.Errorf("it begins with %+v", m)
		}
	}
	const errorsURL = "/api/v1/admin/tools/logs/errors"
	send := func(message string) {
		t.Helper()
		body := fmt.Sprintf(`{"message":%q,"level":"error"}`, message)
		if status, text := request(t, http.MethodPost, a.Welcome().URL+"/api/v1/events", files[datadir.IngestKeyFile], body); status != http.StatusAccepted {
			t.Fatalf("event: %d %s", status, text)
		}
	}
	command := func(method, path, body string) {
		t.Helper()
		if status, text := request(t, method, a.Welcome().URL+errorsURL+path, admin, body); status != http.StatusOK {
			t.Fatalf("%s %s: %d %s", method, path, status, text)
		}
	}
	both := func(step string, check func(told) bool) (m told) {
		t.Helper()
		for _, messages := range []<-chan told{one, two} {
			if m = next(t, messages); !check(m) {
				t.Errorf("%s: told %+v", step, m)
			}
		}
		return m
	}

	began := time.Now()
	send("disk is full")
	first := both("an event", func(m told) bool {
		return len(m.Records) == 1 && m.Records[0].MessagePreview == "disk is full" && m.TotalChanged == 1 && m.More == 0 && len(m.Gone) == 0
	})
	t.Logf("told after %v", time.Since(began))
	signature := first.Records[0].Signature
	command(http.MethodPost, "/status", fmt.Sprintf(`{"signatures":[%q],"status":"muted"}`, signature))
	both("a status", func(m told) bool { return len(m.Records) == 1 && m.Records[0].Signature == signature })
	command(http.MethodDelete, "", fmt.Sprintf(`{"signatures":[%q]}`, signature))
	both("a delete", func(m told) bool {
		return len(m.Records) == 0 && len(m.Gone) == 2 && cmp.Equal(m.Gone[0], struct{ Type, Signature string }{"system", signature})
	})
	send("disk is full again")
	both("another event", func(m told) bool { return len(m.Records) == 1 && m.Records[0].Count == 1 })
	command(http.MethodPost, "/cleanup", `{"before":"2099-01-01"}`)
	both("a cleanup", func(m told) bool { return len(m.Records) == 0 && m.More == 1 && m.TotalChanged == 1 })

	began = time.Now()
	if err := stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("the stop took %v", took)
	}
	t.Logf("stopped after %v", time.Since(began))
	for range one { // it has ended
		t.Error("something was told at the end")
	}
}
