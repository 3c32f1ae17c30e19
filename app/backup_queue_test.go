package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/backup"
)

// TestBackupWhileEventsComeOverNATS: events that come from their queue while a backup is
// made count once, whether the log had them already or the restored service moves them.
//
// long: a publisher, the backup, and the service that is restored.
func TestBackupWhileEventsComeOverNATS(t *testing.T) {
	o := testOptions(t)
	o.NATSListen, o.NATSProject = "127.0.0.1:0", 1
	a := build(t, o)
	stop := run(t, a)
	admin := key(t, a.Welcome().AdminKeyFile)
	const first = 200
	var published atomic.Uint64
	var working sync.WaitGroup
	warm, done := make(chan struct{}), make(chan struct{})
	js := publisher(t, a)
	working.Go(func() {
		// Slowly, so that none waits and each is moved to the log at once.
		pace := time.NewTicker(300 * time.Microsecond)
		defer pace.Stop()
		for n := uint64(1); ; n++ {
			select {
			case <-done:
				return
			case <-pace.C:
			}
			if _, err := js.Publish(t.Context(), "errors.v1.system", fmt.Appendf(nil, `{"message":"published","exception_class":"N%d"}`, n)); err != nil {
				t.Error(err)
				return
			}
			if published.Store(n); n == first {
				close(warm)
			}
		}
	})
	<-warm
	before := published.Load()
	folder := filepath.Join(t.TempDir(), "backup")
	m, err := backup.Make(t.Context(), o.Data, folder, nil)
	during := published.Load() + 1
	close(done)
	working.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	var waited, all uint64
	for _, s := range m.Streams {
		if s.Name == "ERRORS" {
			waited, all = s.Messages, s.Last
		}
	}
	t.Logf("%d events published before the backup, %d when it had ended; it has the first %d, of which %d still waited", before, during, all, waited)
	if all < before || all > during {
		t.Errorf("the queue ends at %d; want %d to %d", all, before, during)
	}
	o.Data, o.Registry = filepath.Join(t.TempDir(), "restored"), nil
	if _, err := backup.Restore(t.Context(), backup.RestoreConfig{Folder: folder, Data: o.Data, Options: o.Options, Logger: o.Logger}); err != nil {
		t.Fatal(err)
	}
	a = build(t, o)
	run(t, a)
	// The queue keeps its order: when one more event is counted, all are.
	last, err := publisher(t, a).Publish(t.Context(), "errors.v1.system", []byte(`{"message":"published","exception_class":"Last"}`))
	if err != nil {
		t.Fatal(err)
	}
	awaitCount(t, a, admin, "Last", 1)
	status, body := get(t, a.Welcome().URL+"/api/v1/admin/projects/1", admin)
	var project struct {
		Data struct {
			Totals struct {
				Records uint64
				Events  uint64 `json:"events_24h"`
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &project); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s (%v)", status, body, err)
	}
	// Those that were on the log when it was copied and in the queue only after that.
	has := project.Data.Totals.Records - 1
	if project.Data.Totals.Events != has+1 || has < all || has > during {
		t.Errorf("restored %+v, want %d to %d events with as many records, and the last one", project.Data.Totals, all, during)
	}
	if last.Sequence <= has {
		t.Errorf("the last event has the number %d in the queue, which one of the %d before has had", last.Sequence, has)
	}
	awaitCount(t, a, admin, fmt.Sprint("N", has), 1)
	awaitCount(t, a, admin, fmt.Sprint("N", has+1), 0)
}

// awaitCount waits until the class has one record that counts so many events, or none.
func awaitCount(t *testing.T, a *app.App, key, class string, count uint64) {
	t.Helper()
	await(t, "the record of "+class, func() []row {
		status, body := get(t, a.Welcome().URL+"/api/v1/admin/tools/logs/errors?exception_class="+class, key)
		var answer struct{ Data []row }
		if err := json.Unmarshal([]byte(body), &answer); err != nil || status != http.StatusOK {
			t.Fatalf("%d %s (%v)", status, body, err)
		}
		return answer.Data
	}, func(rows []row) bool {
		return count == 0 && len(rows) == 0 || len(rows) == 1 && rows[0].Count == count
	})
}
