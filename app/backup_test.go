package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/backup"
	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/projector"
)

// restored is a service that was restored from a backup of another one.
type restored struct {
	of, into app.Options
	folder   string
	made     backup.Manifest
	// before, during and after are the events that the first service had taken when
	// the backup began, when it had ended, and in the end.
	before, during, after uint64
	// said is what the first service said about everything but events, before the
	// backup.
	said map[string]string
}

// asked are the questions whose answers a backup keeps.
var asked = []string{
	"tools/logs/settings", "settings/security/two-factor", "settings/localization", "keys", "projects/2",
	"alerts/rules", "alerts/channels", "audit",
}

// answers asks a service everything.
func answers(t *testing.T, a *app.App, key string) map[string]string {
	t.Helper()
	said := map[string]string{}
	for _, path := range asked {
		status, body := get(t, a.Welcome().URL+"/api/v1/admin/"+path, key)
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", path, status, body)
		}
		said[path] = body
	}
	return said
}

// TestBackup: a backup that is made while events come, and a service that is restored
// from it, agree at the last fact of the backup in every record, in everything that is
// set, and in what was deleted. What came after is not there.
//
// long: one service, its backup, and the service that is restored, step by step.
func TestBackup(t *testing.T) {
	r := &restored{of: testOptions(t)}
	r.of.PublicURL = "https://errors.example.org" // in DSNs, and the port is another one
	r.into = r.of
	r.into.Data = filepath.Join(t.TempDir(), "restored")
	r.folder = filepath.Join(t.TempDir(), "backup")
	a := build(t, r.of)
	stop := run(t, a)
	admin, ingest := key(t, a.Welcome().AdminKeyFile), key(t, a.Welcome().IngestKeyFile)
	prepare(t, a, admin, ingest)
	r.said = answers(t, a, admin)

	r.send(t, a, ingest)
	if status, body := request(t, http.MethodPost, a.Welcome().URL+"/api/v1/events", ingest, `{"message":"after the backup","exception_class":"LaterError"}`); status != http.StatusAccepted {
		t.Fatalf("%d %s", status, body)
	}
	awaitRecords(t, a, func(rows []row) bool {
		return slices.ContainsFunc(rows, func(r row) bool { return r.ExceptionClass == "LaterError" })
	})
	if err := stop(); err != nil {
		t.Fatal(err)
	}

	into := backup.RestoreConfig{Folder: r.folder, Data: r.into.Data, Options: r.into.Options, Logger: r.into.Logger}
	m, err := backup.Restore(t.Context(), into)
	if err != nil {
		t.Fatal(err)
	}
	if m.Position != r.made.Position || m.Position == 0 || m.Folded == 0 {
		t.Errorf("restored %d (folded %d), the backup has %d", m.Position, m.Folded, r.made.Position)
	}
	r.checkLog(t)
	want := r.fold(t, r.of, "errata_reference")
	if got := r.fold(t, r.into, ""); got != want {
		t.Errorf("folded to %d the restored tables are\n%+v, want\n%+v", m.Position, got, want)
	}
	r.checkService(t, admin, ingest)
	if _, err := backup.Restore(t.Context(), into); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("restored into a folder that is in use: %v", err)
	}
}

// prepare fills a service with all that a backup should keep.
func prepare(t *testing.T, a *app.App, admin, ingest string) {
	t.Helper()
	ask := func(method, path, key, body string, want int) string {
		t.Helper()
		status, answer := request(t, method, a.Welcome().URL+path, key, body)
		if status != want {
			t.Fatalf("%s %s: %d %s, want %d", method, path, status, answer, want)
		}
		return answer
	}
	const admins = "/api/v1/admin/"
	for i := range 30 {
		ask(http.MethodPost, "/api/v1/events", ingest, fmt.Sprintf(`{"message":"problem","exception_class":"E%d","level":"warning","environment":"prod","payload":{"i":%[1]d}}`, i%10), http.StatusAccepted)
	}
	rows := awaitRecords(t, a, func(rows []row) bool { return len(rows) == 10 })
	ask(http.MethodDelete, admins+"tools/logs/errors", admin, `{"signatures":["`+rows[3].Signature+`"]}`, http.StatusOK)
	ask(http.MethodPut, admins+"tools/logs/settings", admin, `{"module_log":1}`, http.StatusOK)
	ask(http.MethodPost, admins+"keys", admin, `{"kind":"ops","name":"watcher"}`, http.StatusCreated)
	ask(http.MethodPost, admins+"projects", admin, `{"name":"Shop"}`, http.StatusCreated)
	channel := ask(http.MethodPost, admins+"alerts/channels", admin, `{"name":"hook","kind":"webhook","url":"https://alerts.example.org/"}`, http.StatusCreated)
	var made struct{ Data struct{ ID string } }
	if err := json.Unmarshal([]byte(channel), &made); err != nil {
		t.Fatal(err)
	}
	ask(http.MethodPost, admins+"alerts/rules", admin, `{"name":"regressed","when":{"regressed":true},"to":["`+made.Data.ID+`"]}`, http.StatusCreated)
}

// send sends events from several senders, and makes the backup in the middle.
func (r *restored) send(t *testing.T, a *app.App, key string) {
	t.Helper()
	const senders, first = 3, 60
	var sent atomic.Uint64
	var working sync.WaitGroup
	warm, done := make(chan struct{}), make(chan struct{})
	for i := range senders {
		working.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				body := fmt.Sprintf(`{"message":"meanwhile","exception_class":"M%d","payload":{"sender":%d,"n":%d}}`, n%40, i, n)
				if status, answer := request(t, http.MethodPost, a.Welcome().URL+"/api/v1/events", key, body); status != http.StatusAccepted {
					t.Errorf("%d %s", status, answer)
					return
				}
				if sent.Add(1) == first {
					close(warm)
				}
			}
		})
	}
	<-warm
	r.before = sent.Load()
	var err error
	r.made, err = backup.Make(t.Context(), r.of.Data, r.folder, nil)
	r.during = sent.Load() + senders                               // those under way
	for at := sent.Load(); err == nil && sent.Load() < at+first; { //nolint:revive // until more came
	}
	close(done)
	working.Wait()
	r.after = sent.Load()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d events before the backup, %d when it had ended, %d in all; position %d, folded %d, %d bytes", r.before, r.during, r.after, r.made.Position, r.made.Folded, r.made.Bytes)
}

// stopped calls do with the engines of a stopped service.
func stopped(t *testing.T, o app.Options, do func(e *engine.Engines, log eventlog.Log)) {
	t.Helper()
	dir, err := datadir.Open(o.Data)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.Start(t.Context(), engine.Config{Options: o.Options, Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(errors.Join(err, dir.Close()))
	}
	defer func() {
		if err := errors.Join(e.Stop(context.WithoutCancel(t.Context())), dir.Close()); err != nil {
			t.Error(err)
		}
	}()
	do(e, eventlog.Log{NATS: e.NATS.Conn(), JetStream: e.JetStream(), Stream: migrations.StreamName(""), Prefix: migrations.SubjectPrefix("")})
}

// checkLog checks that the restored log ends at the position and holds what had been
// taken by then.
func (r *restored) checkLog(t *testing.T) {
	t.Helper()
	stopped(t, r.into, func(_ *engine.Engines, log eventlog.Log) {
		report, err := eventlog.Verify(t.Context(), log, nil)
		if err != nil {
			t.Fatal(err)
		}
		events := report.Events - 30 // of prepare
		if report.Last != r.made.Position || len(report.Gaps) > 0 || events < r.before || events > r.during || r.after <= r.during {
			t.Errorf("the restored log is %+v, with %d events meanwhile; want %d to %d of %d, and the end at %d", report, events, r.before, r.during, r.after, r.made.Position)
		}
	})
}

// fold folds the log of a stopped service to the position, into the tables that there
// are or into a database of its own.
func (r *restored) fold(t *testing.T, o app.Options, database string) (tally projector.Tally) {
	t.Helper()
	stopped(t, o, func(e *engine.Engines, log eventlog.Log) {
		var conn driver.Conn = e.ClickHouse()
		if database != "" {
			err := conn.Exec(t.Context(), "CREATE DATABASE "+database)
			if err == nil {
				conn, err = migrations.Connect(t.Context(), e.ClickHouseOptions(), "")(database)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
		}
		p, err := projector.New(t.Context(), projector.Config{Log: log, ClickHouse: conn, Quiet: true})
		if err != nil {
			t.Fatal(err)
		}
		if p.Status().Checkpoint.Sequence != r.made.Folded && database == "" {
			t.Errorf("the restored tables begin at %d, the backup says %d", p.Status().Checkpoint.Sequence, r.made.Folded)
		}
		if err := p.FoldTo(t.Context(), r.made.Position); err != nil {
			t.Fatal(err)
		}
		if tally, err = p.Store().Tally(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	return tally
}

// checkService starts the restored service.
func (r *restored) checkService(t *testing.T, admin, ingest string) {
	t.Helper()
	a := first(t, r.into)
	run(t, a)
	if a.Welcome().First {
		t.Error("the restored service makes first keys")
	}
	for path, said := range answers(t, a, admin) {
		if said != r.said[path] {
			t.Errorf("%s: the restored service says\n%s\nthe first one said\n%s", path, said, r.said[path])
		}
	}
	rows := awaitRecords(t, a, func(rows []row) bool { return len(rows) > 0 })
	if slices.ContainsFunc(rows, func(r row) bool { return r.ExceptionClass == "LaterError" }) {
		t.Error("an event from after the backup is there")
	}
	if status := opsStatus(t, a); strings.Contains(status, `"ok":false`) || strings.Contains(status, `"alarms":[{`) {
		t.Errorf("the restored service says %s", status)
	}
	if status, body := get(t, a.Welcome().URL+"/api/v1/admin/audit/verify", admin); status != http.StatusOK || !strings.Contains(body, `"ok":true`) {
		t.Errorf("audit: %d %s", status, body)
	}
	if status, body := request(t, http.MethodPost, a.Welcome().URL+"/api/v1/events", ingest, `{"message":"again","exception_class":"AgainError"}`); status != http.StatusAccepted {
		t.Errorf("%d %s", status, body)
	}
	awaitRecords(t, a, func(rows []row) bool {
		return slices.ContainsFunc(rows, func(r row) bool { return r.ExceptionClass == "AgainError" && r.Count == 1 })
	})
	for _, name := range []string{"signin.secret", datadir.AdminKeyFile} {
		of, err1 := os.ReadFile(filepath.Join(r.of.Data, name))
		into, err2 := os.ReadFile(filepath.Join(r.into.Data, name))
		if err := errors.Join(err1, err2); err != nil || string(of) != string(into) {
			t.Errorf("%s differs (%v)", name, err)
		}
	}
}
