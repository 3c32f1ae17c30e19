package app_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOneBitBelowNATS changes one bit in each kind of file of the embedded NATS while
// the service is stopped. The next start has the same keys and records, takes events,
// and raises an alarm where it has mended a file. The blocks of the log and of the
// audit trail have tests of their own, since a start cannot restore them by itself.
func TestOneBitBelowNATS(t *testing.T) {
	o := testOptions(t)
	o.NATSListen, o.NATSProject = "127.0.0.1:0", 1
	for round := range uint64(2) { // the second start takes the copies
		a := build(t, o)
		stop := run(t, a)
		sendEvents(t, a, 2)
		awaitRecords(t, a, func(rows []row) bool { return len(rows) == 1 && rows[0].Count == 2*(round+1) })
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		o.Registry = nil
	}
	const (
		streams     = "nats/jetstream/$G/streams/"
		bookkeeping = streams + "KV_familiar/msgs/*.blk"
	)
	for file, alarm := range map[string]string{
		streams + "KV_keys/msgs/*.blk":       "files-damaged keys-damaged",
		streams + "KV_keys/meta.inf":         "nats-files-damaged",
		streams + "KV_keys/meta.sum":         "nats-files-damaged",
		streams + "KV_keys/msgs/index.db":    "",
		bookkeeping:                          "",
		streams + "LOG/meta.inf":             "nats-files-damaged",
		streams + "LOG/meta.sum":             "nats-files-damaged",
		streams + "LOG/msgs/index.db":        "",
		streams + "AUDIT/meta.inf":           "nats-files-damaged",
		streams + "ERRORS/meta.inf":          "nats-files-damaged",
		"nats/meta-copies/$G/*/LOG/meta.inf": "",
		"keys.copy":                          "",
		"log.mark":                           "",
	} {
		t.Run(strings.ReplaceAll(file, "/", " "), func(t *testing.T) {
			p := o
			p.Data = filepath.Join(t.TempDir(), "data")
			copyData(t, o.Data, p.Data)
			flipBit(t, filepath.Join(p.Data, file))
			a := build(t, p)
			run(t, a)
			if file == bookkeeping { // its first write fails, which stops the server of the log
				awaitMetric(t, a, "errata_log_restarts_total 1")
				awaitReady(t, a.Welcome().URL)
			}
			url := a.Welcome().URL
			sendEvents(t, a, 1)
			awaitRecords(t, a, func(rows []row) bool { return len(rows) == 1 && rows[0].Count == 5 })
			expectAlarm(t, url, alarm)
			if err := a.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}

// expectAlarm fails unless the given alarm stands and no other; "" means no alarm.
func expectAlarm(t *testing.T, url, want string) {
	t.Helper()
	_, metrics := get(t, url+"/metrics", "")
	var standing []string
	for line := range strings.SplitSeq(metrics, "\n") {
		if name, ok := strings.CutPrefix(line, `errata_alarm{name="`); ok {
			standing = append(standing, strings.TrimSuffix(name, `"} 1`))
		}
	}
	if got := strings.Join(standing, " "); got != want {
		t.Errorf("the alarms are %q, want %q", got, want)
	}
	status, body := get(t, url+"/readyz", "")
	if ready := status == http.StatusOK; ready != (want == "") {
		t.Errorf("readyz: %d %s", status, body)
	}
}

// flipBit changes one bit in the middle of a file that is not empty.
func flipBit(t *testing.T, pattern string) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) == 0 {
			continue
		}
		text[len(text)/2] ^= 4
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("no file %s has anything in it", pattern)
}

// copyData copies a data folder with the rights of its files.
func copyData(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, inside)
		info, err := entry.Info()
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return os.MkdirAll(target, 0o700)
		case info.Mode()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			return errors.Join(err, os.Symlink(link, target))
		}
		text, err := os.ReadFile(path)
		return errors.Join(err, os.WriteFile(target, text, info.Mode().Perm()))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The file with the configuration of the log can be damaged before the second start.
func TestMetaFileIsLostAfterTheFirstStart(t *testing.T) {
	o := stoppedWithTwoEvents(t)
	if err := os.Remove(filepath.Join(o.Data, "nats/jetstream/$G/streams/LOG/meta.inf")); err != nil {
		t.Fatal(err)
	}
	o.Registry = nil
	b := build(t, o)
	run(t, b)
	sendEvents(t, b, 1)
	awaitRecords(t, b, func(rows []row) bool { return len(rows) == 1 && rows[0].Count == 3 })
	expectAlarm(t, b.Welcome().URL, "nats-files-damaged")
}
