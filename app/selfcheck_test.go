package app_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/errata-log/errata/app"
)

// TestRecordsDeletedFromDisk deletes all files of the records in ClickHouse while the
// service is stopped. The next start makes them again by itself, and is ready.
func TestRecordsDeletedFromDisk(t *testing.T) {
	o := testOptions(t)
	a := build(t, o)
	run(t, a)
	ingestKey := key(t, a.Welcome().IngestKeyFile)
	send := func(a *app.App, message string) {
		t.Helper()
		if status, body := request(t, http.MethodPost, a.Welcome().URL+"/api/v1/events", ingestKey, `{"message":"`+message+`"}`); status != http.StatusAccepted {
			t.Fatalf("event: %d %s, want 202", status, body)
		}
	}
	send(a, "one thing broke")
	awaitRecords(t, a, func(rows []row) bool { return len(rows) == 1 })
	send(a, "another thing broke")
	awaitRecords(t, a, func(rows []row) bool { return len(rows) == 2 })
	// A stop before the end of the first look leaves no mark.
	eventually(t, "the first look has ended", func() bool {
		return strings.Contains(opsStatus(t, a), "as their checkpoint says")
	})
	if err := a.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(o.Data, "selfcheck.json")); err != nil {
		t.Errorf("a clean stop left no mark: %v", err)
	}
	parts, err := filepath.Glob(filepath.Join(o.Data, "clickhouse", "store", "*", "*", "all_*", "by_time.proj"))
	if err != nil || len(parts) == 0 {
		t.Fatalf("no parts of the records in the data folder (%v)", err)
	}
	for _, projection := range parts {
		if err := os.RemoveAll(filepath.Dir(projection)); err != nil {
			t.Fatal(err)
		}
	}

	o.Registry = nil
	a = build(t, o)
	run(t, a)
	awaitRecords(t, a, func(rows []row) bool { return len(rows) == 2 })
	send(a, "another thing broke")
	awaitRecords(t, a, func(rows []row) bool { return len(rows) == 2 && rows[0].Count+rows[1].Count == 3 })
	awaitReady(t, a.Welcome().URL) // a look before the records are back raises an alarm, which then ends
	if said := opsStatus(t, a); !strings.Contains(said, `"self-check"`) {
		t.Errorf("the status has no line of the self-check: %s", said)
	}
}

// TestOneBitBelowClickHouse changes one bit in each kind of file of the records, their
// contexts and their hours, while the service is stopped. The next start takes events
// at once, says what was wrong, and shows the same records.
func TestOneBitBelowClickHouse(t *testing.T) {
	o := stoppedWithTwoEvents(t)
	for _, file := range []string{"primary.cidx", "data.cmrk*", "checksums.txt", "data.bin"} {
		t.Run(strings.Trim(file, "*"), func(t *testing.T) {
			p := o
			p.Data, p.Registry = filepath.Join(t.TempDir(), "data"), nil
			said := &warnings{Handler: slog.NewTextHandler(t.Output(), nil)}
			p.Logger = slog.New(said)
			copyData(t, o.Data, p.Data)
			parts, err := filepath.Glob(filepath.Join(p.Data, "clickhouse", "store", "*", "*", "all_*", "by_time.proj"))
			if err != nil || len(parts) == 0 {
				t.Fatalf("no parts of the records in the data folder (%v)", err)
			}
			for _, projection := range parts {
				flipBit(t, filepath.Join(filepath.Dir(projection), file))
			}
			a := build(t, p)
			run(t, a)
			sendEvents(t, a, 1) // at once, whatever has to be mended
			awaitReady(t, a.Welcome().URL)
			awaitRecords(t, a, func(rows []row) bool { return len(rows) == 1 && rows[0].Count == 3 })
			eventually(t, "the doctor tells of the mend", func() bool {
				return strings.Contains(opsStatus(t, a), "the last mend was at")
			})
			if !said.havePart("part") {
				t.Errorf("the log of the service has no warning that names a part")
			}
			if _, metrics := get(t, a.Welcome().URL+"/metrics", ""); !strings.Contains(metrics, "\nerrata_selfcheck_mends_total{") {
				t.Errorf("no metric counts the mend")
			}
		})
	}
}

// warnings keeps the warnings and errors of a service, without those of its engines.
type warnings struct {
	slog.Handler
	mu    sync.Mutex
	lines []string
}

func (w *warnings) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		var line strings.Builder
		line.WriteString(r.Message)
		r.Attrs(func(a slog.Attr) bool {
			fmt.Fprintf(&line, " %s=%v", a.Key, a.Value)
			return true
		})
		w.mu.Lock()
		w.lines = append(w.lines, line.String())
		w.mu.Unlock()
	}
	return w.Handler.Handle(ctx, r)
}

// havePart says whether a line with the text names a part.
func (w *warnings) havePart(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.lines, func(line string) bool {
		return strings.Contains(line, text) && strings.Contains(line, "all_")
	})
}
