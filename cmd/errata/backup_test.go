package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/test/testenv"
)

// someEvents are how many events sendSome sends. They are more bytes than a socket holds
// for a reader that does not read.
const someEvents = 150

// sendSome sends events of five problems.
func sendSome(t *testing.T, url, data string) {
	t.Helper()
	ingest, err := os.ReadFile(filepath.Join(data, datadir.IngestKeyFile))
	if err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 10_000)
	for i := range someEvents {
		_, _ = rand.Read(noise) // never fails
		body := fmt.Sprintf(`{"message":"m","exception_class":"E%d","payload":{"noise":%q}}`, i%5, hex.EncodeToString(noise))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/api/v1/events", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(ingest)))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != http.StatusAccepted {
			t.Fatal(resp.Status)
		}
	}
}

// until waits until a file is there.
func until(t *testing.T, path string) {
	t.Helper()
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	late := time.After(visibleTimeout)
	for {
		if _, err := os.Stat(path); err == nil {
			return
		}
		select {
		case <-poll.C:
		case <-late:
			t.Fatalf("%s did not appear", path)
		}
	}
}

// counts are the counts of the records by class, once all events are counted.
func counts(t *testing.T, data string) map[string]uint64 {
	t.Helper()
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for late := time.After(visibleTimeout); ; {
		var rows []struct {
			Class string `json:"exception_class"`
			Count uint64 `json:"count"`
		}
		if got := command(t, nil, "errors", "list", "--json", "--data", data); json.Unmarshal([]byte(got.out), &rows) != nil {
			t.Fatalf("%+v", got)
		}
		found, all := map[string]uint64{}, uint64(0)
		for _, r := range rows {
			found[r.Class] = r.Count
			all += r.Count
		}
		if all == someEvents {
			return found
		}
		select {
		case <-poll.C:
		case <-late:
			t.Fatalf("%v are %d events and not %d", found, all, someEvents)
		}
	}
}

// TestBackupOutlivesKills kills the program that writes a backup, and then the service
// that makes one. What is left is not restored, and the next backup is good.
//
// long: one service whose states build on each other.
func TestBackupOutlivesKills(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	testenv.Seed(t, data)
	engine := "ERRATA_ENGINE_BINARY=" + testenv.EngineBinary(t)
	s := serveProcess(t, data)
	sendSome(t, s.url, data)
	folder := filepath.Join(t.TempDir(), "backup")

	half := killedBackup(t, data, folder)
	got := command(t, []string{engine}, "restore", half, "--data", filepath.Join(t.TempDir(), "restored"))
	if got.code != exitFailed || !strings.Contains(got.err, "broken off") {
		t.Errorf("restored half a backup: %+v", got)
	}
	if got := command(t, nil, "backup", strings.TrimSuffix(half, ".unfinished"), "--data", data); got.code != exitFailed || !strings.Contains(got.err, half) {
		t.Errorf("a backup beside half of one: %+v", got)
	}

	stallBackup(t, data)
	links := filepath.Join(data, "clickhouse", "shadow", "errata_backup")
	until(t, links)
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait() // "signal: killed"
	if got := command(t, nil, "backup", folder, "--data", data); got.code != exitFailed || !strings.Contains(got.err, "no service runs") {
		t.Errorf("a backup of a service that is gone: %+v", got)
	}
	s = serveProcess(t, data)
	if _, err := os.Stat(links); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the links of the backup that was broken off are still there: %v", err)
	}

	if got := command(t, nil, "backup", folder, "--data", data); got.code != exitOK || !strings.Contains(got.out, folder) {
		t.Fatalf("backup: %+v", got)
	}
	counts(t, data)
	s.stop(t)
	into := filepath.Join(t.TempDir(), "restored")
	if got := command(t, []string{engine}, "restore", folder, "--data", into); got.code != exitOK || !strings.Contains(got.out, "errata serve --data "+into) {
		t.Fatalf("restore: %+v", got)
	}
	s = serveProcess(t, into)
	for class, count := range counts(t, into) {
		if count != someEvents/5 {
			t.Errorf("restored %d events of %s", count, class)
		}
	}
	s.stop(t)
}

// killedBackup starts backups and kills one of them after its first file.
func killedBackup(t *testing.T, data, folder string) (half string) {
	t.Helper()
	for try := range 20 {
		at := fmt.Sprint(folder, "-killed", try)
		cmd := exec.Command(os.Args[0], "backup", at, "--data", data)
		cmd.Env = append(os.Environ(), asProgram+"=1")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		half = at + ".unfinished"
		until(t, filepath.Join(half, "files", "signin.secret"))
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		if _, err := os.Stat(at); err != nil {
			return half
		}
	}
	t.Fatal("no backup could be killed in time")
	return ""
}

// stallBackup asks for a backup and does not read it.
func stallBackup(t *testing.T, data string) {
	t.Helper()
	dir, err := os.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	// The path of a socket is short.
	path := fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), datadir.BackupSocket)
	conn, err := new(net.Dialer).DialContext(context.WithoutCancel(t.Context()), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
}
