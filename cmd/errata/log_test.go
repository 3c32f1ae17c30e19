package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/test/testenv"
)

// operator acts on a service as its operator and its applications.
type operator struct {
	t    *testing.T
	data string
	s    *service
}

func (o *operator) start() {
	testenv.Seed(o.t, o.data)
	o.s = serveProcess(o.t, o.data)
}

// ask sends a request with the key in a file.
func (o *operator) ask(method, path, keyFile, body string) (int, string) {
	o.t.Helper()
	key, err := os.ReadFile(filepath.Join(o.data, keyFile))
	if err != nil {
		o.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(o.t.Context(), method, o.s.url+path, strings.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(key)))
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		o.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		o.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// send sends an event and waits until it is listed.
func (o *operator) send(message string) {
	o.t.Helper()
	if status, answer := o.ask(http.MethodPost, "/api/v1/events", datadir.IngestKeyFile, fmt.Sprintf(`{"message":%q}`, message)); status/100 != 2 {
		o.t.Fatalf("%d %s", status, answer)
	}
	o.await("/api/v1/admin/tools/logs/errors?limit=100", 200, message)
}

// await asks until the answer has the status and all words.
func (o *operator) await(path string, status int, words ...string) {
	o.t.Helper()
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	late := time.After(visibleTimeout)
	for {
		got, answer := o.ask(http.MethodGet, path, datadir.AdminKeyFile, "")
		missing := got != status
		for _, word := range words {
			missing = missing || !strings.Contains(answer, word)
		}
		if !missing {
			return
		}
		select {
		case <-poll.C:
		case <-late:
			o.t.Fatalf("%s after %v: %d %s, want %d with %q", path, visibleTimeout, got, answer, status, words)
		}
	}
}

// run runs a command, and wants its exit code and words in what it prints.
func (o *operator) run(code int, words []string, args ...string) {
	o.t.Helper()
	got := command(o.t, nil, append(args, "--data", o.data)...)
	if got.code != code {
		o.t.Errorf("%q: code %d, want %d\n%s%s", args, got.code, code, got.out, got.err)
	}
	for _, word := range words {
		if !strings.Contains(got.out+got.err, word) {
			o.t.Errorf("%q: nothing of %q in\n%s%s", args, word, got.out, got.err)
		}
	}
}

// TestDamagedLogOfAService flips one bit of the log. Every command and page for operators
// names the damage, new events are shown, and both repair and accept lead to a service
// that is ready.
//
// long: one story, whose steps build on each other.
func TestDamagedLogOfAService(t *testing.T) {
	o := &operator{t: t, data: filepath.Join(t.TempDir(), "data")}
	o.start()
	for n := range 9 {
		o.send(fmt.Sprintf("problem number %c", 'a'+n))
	}
	o.s.stop(t)
	o.run(exitOK, []string{"facts 1 to "}, "log", "verify", "--stopped")
	backup := filepath.Join(t.TempDir(), "backup")
	if err := os.CopyFS(backup, os.DirFS(filepath.Join(o.data, "nats"))); err != nil {
		t.Fatal(err)
	}
	o.flip(4)
	o.run(exitFailed, []string{"facts 4 to 4 are missing", "1.blk", "errata log repair"}, "log", "verify", "--stopped")

	o.start()
	began := time.Now()
	o.send("behind the gap")
	t.Logf("visible %v after the start", time.Since(began))
	o.await("/readyz", http.StatusServiceUnavailable, "degraded", "log-gap")
	o.await("/metrics", 200, `errata_alarm{name="log-gap"} 1`, `errata_log_gaps{state="open"} 1`, "errata_log_gap_facts_total 1")
	o.run(exitFailed, []string{"log-gap", "fact 4 is missing", "1.blk", "1 event", "errata log accept"}, "doctor")
	o.run(exitFailed, []string{"facts 4 to 4 are missing", "1 event;", "nobody has accepted"}, "log", "verify")
	o.run(exitFailed, []string{"fact 4 is missing", "everything is as it was"}, "replay")
	o.run(exitUsage, []string{"--by NAME"}, "log", "accept")
	o.run(exitFailed, []string{"the service"}, "log", "repair", "--from", backup) // which runs
	o.run(exitOK, []string{"accepted by Ada"}, "log", "accept", "--by", "Ada")
	o.await("/readyz", 200)
	o.run(exitOK, []string{"accepted by Ada"}, "log", "verify")
	o.run(exitOK, []string{"log.gap"}, "audit", "list", "--limit", "100")
	o.s.stop(t)

	o.run(exitOK, []string{"1 facts are back"}, "log", "repair", "--from", backup)
	o.run(exitOK, nil, "log", "verify", "--stopped")
	o.start()
	o.await("/readyz", http.StatusServiceUnavailable, "degraded", "log-repaired")
	o.run(exitOK, []string{"both are the same"}, "replay")
	o.await("/readyz", 200)
	o.run(exitOK, nil, "log", "verify")
	o.await("/api/v1/admin/tools/logs/errors?limit=100", 200, "problem number d", "behind the gap")
	o.s.stop(t)
}

// TestRepairFromServer: facts come back from a NATS server that runs on a copy. The
// error for a server that cannot help says what to do.
func TestRepairFromServer(t *testing.T) {
	o := &operator{t: t, data: filepath.Join(t.TempDir(), "data")}
	o.start()
	for n := range 9 {
		o.send(fmt.Sprintf("problem number %c", 'a'+n))
	}
	o.s.stop(t)
	nats := filepath.Join(o.data, "nats")
	backup := filepath.Join(t.TempDir(), "backup")
	if err := os.CopyFS(backup, os.DirFS(nats)); err != nil {
		t.Fatal(err)
	}
	url := strings.Replace(testenv.ServeNATS(t, backup, func(opts *server.Options) {
		opts.Username, opts.Password = "ada", "secret"
	}), "://", "://ada:secret@", 1)
	o.flip(4)
	o.flip(6)
	o.run(exitFailed, []string{"facts 4 to 4 are missing", "facts 6 to 6 are missing"}, "log", "verify", "--stopped")

	o.run(exitFailed, []string{`scheme "http" is not one of`}, "log", "repair", "--from", "http://127.0.0.1:1")
	o.run(exitFailed, []string{"nats://127.0.0.1:1", "its server must be up"}, "log", "repair", "--from", "nats://127.0.0.1:1")
	o.run(exitFailed, []string{"Authorization Violation"}, "log", "repair", "--from", strings.Replace(url, "secret", "wrong", 1))
	o.run(exitFailed, []string{"no stream LOG"}, "log", "repair", "--from", testenv.ServeNATS(t, t.TempDir()))
	o.run(exitOK, []string{"2 facts are back"}, "log", "repair", "--from", url+",nats://127.0.0.1:1")
	o.run(exitOK, nil, "log", "verify", "--stopped")

	if err := os.RemoveAll(filepath.Dir(testenv.LogFiles(t, nats, "LOG")[0].Path)); err != nil { // index and all
		t.Fatal(err)
	}
	// Nine events, the limits and the first project.
	o.run(exitOK, []string{"11 facts are back"}, "log", "repair", "--from", url)
	o.run(exitOK, nil, "log", "verify", "--stopped")
	o.start()
	o.run(exitOK, nil, "log", "verify")
	o.run(exitOK, []string{"both are the same"}, "replay")
	o.await("/readyz", 200)
	o.await("/api/v1/admin/tools/logs/errors?limit=100", 200, "problem number d", "problem number f")
	o.s.stop(t)
}

// flip flips a bit in the payload of a fact of the stopped service.
func (o *operator) flip(sequence uint64) {
	o.t.Helper()
	files := testenv.LogFiles(o.t, filepath.Join(o.data, "nats"), "LOG")
	at, size := testenv.FindRecord(o.t, files[0].Path, sequence)
	testenv.Flip(o.t, files[0].Path, at+size-20)
}
