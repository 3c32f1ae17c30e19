package app_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/backup"
	"github.com/errata-log/errata/datadir"
)

// smallBackup is a backup of a service with a few events, which is stopped.
func smallBackup(t *testing.T) (o app.Options, folder string) {
	t.Helper()
	o, folder = testOptions(t), filepath.Join(t.TempDir(), "backup")
	a := build(t, o)
	stop := run(t, a)
	for range 3 {
		if status, body := request(t, http.MethodPost, a.Welcome().URL+"/api/v1/events", key(t, a.Welcome().IngestKeyFile), `{"message":"kept"}`); status != http.StatusAccepted {
			t.Fatalf("%d %s", status, body)
		}
	}
	awaitRecords(t, a, func(rows []row) bool { return len(rows) == 1 && rows[0].Count == 3 })
	if _, err := backup.Make(t.Context(), o.Data, folder, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Make(t.Context(), o.Data, folder, nil); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a second backup into the folder: %v", err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Make(t.Context(), o.Data, folder+"-2", nil); !errors.Is(err, datadir.ErrNotRunning) {
		t.Errorf("a backup of a stopped service: %v", err)
	}
	return o, folder
}

// onlyForOwner checks that nobody else can read a backup.
func onlyForOwner(t *testing.T, folder string) {
	t.Helper()
	if err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s can be read by others: %v", path, info.Mode())
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// TestBackupThatIsRefused: a backup of which anything is missing, changed or too new is
// not restored, and the data folder stays as it was.
//
// long: it is a table.
func TestBackupThatIsRefused(t *testing.T) {
	o, folder := smallBackup(t)
	onlyForOwner(t, folder)
	file := func(pattern string) string {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("no file %s in the backup (%v)", pattern, err)
		}
		name, err := filepath.Rel(folder, found[0])
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	stream, part, manifest, sums := file("streams/LOG"), file("tables/*/records/*/data.bin"), "backup.json", "SHA256SUMS"
	flip := func(name string) func(string) error {
		return func(copied string) error {
			text, err := os.ReadFile(filepath.Join(copied, name))
			if err != nil {
				return err
			}
			text[len(text)/2] ^= 1
			return os.WriteFile(filepath.Join(copied, name), text, 0o600)
		}
	}
	remove := func(name string) func(string) error {
		return func(copied string) error { return os.RemoveAll(filepath.Join(copied, name)) }
	}
	for name, c := range map[string]struct {
		harm func(copied string) error
		want error
		says string
	}{
		"a bit of the log":       {flip(stream), backup.ErrDamaged, stream},
		"a bit of a table":       {flip(part), backup.ErrDamaged, part},
		"a bit of a secret":      {flip("files/signin.secret"), backup.ErrDamaged, "signin.secret"},
		"a bit of the manifest":  {flip(manifest), backup.ErrDamaged, manifest},
		"a bit of the checksums": {flip(sums), backup.ErrDamaged, ""},
		"no log":                 {remove(stream), backup.ErrDamaged, stream},
		"no part":                {remove(filepath.Dir(part)), backup.ErrDamaged, filepath.Dir(part)},
		"no manifest":            {remove(manifest), backup.ErrDamaged, manifest},
		"no checksums":           {remove(sums), backup.ErrUnfinished, sums},
		"nothing":                {func(copied string) error { return os.RemoveAll(copied) }, fs.ErrNotExist, ""},
		"one file too many":      {func(copied string) error { return os.WriteFile(filepath.Join(copied, "files/other"), nil, 0o600) }, backup.ErrDamaged, "files/other"},
		"the end of the list": {func(copied string) error {
			text, err := os.ReadFile(filepath.Join(copied, sums))
			if err != nil {
				return err
			}
			lines := bytes.SplitAfter(bytes.TrimSpace(text), []byte("\n"))
			return os.WriteFile(filepath.Join(copied, sums), bytes.Join(lines[:len(lines)-1], nil), 0o600)
		}, backup.ErrDamaged, "does not list"},
		"a newer format": {func(copied string) error {
			var m map[string]any
			text, err := os.ReadFile(filepath.Join(copied, manifest))
			if err == nil {
				err = json.Unmarshal(text, &m)
			}
			if err != nil {
				return err
			}
			m["format"] = 2
			if text, err = json.Marshal(m); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(copied, manifest), text, 0o600)
		}, backup.ErrNewer, "2"},
	} {
		copied, data := filepath.Join(t.TempDir(), "copy"), filepath.Join(t.TempDir(), "data")
		if err := errors.Join(os.CopyFS(copied, os.DirFS(folder)), c.harm(copied)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, err := backup.Restore(t.Context(), backup.RestoreConfig{Folder: copied, Data: data, Options: o.Options, Logger: o.Logger})
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want %v that names %q", name, err, c.want, c.says)
		}
		if _, err := os.Stat(data); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: there is a data folder (%v)", name, err)
		}
	}
}

// TestRestoreThatIsBrokenOff: no service starts on what it has left, and no other
// restore goes there.
func TestRestoreThatIsBrokenOff(t *testing.T) {
	o, folder := smallBackup(t)
	o.Data = filepath.Join(t.TempDir(), "restored")
	c := backup.RestoreConfig{Folder: folder, Data: o.Data, Options: o.Options, Logger: o.Logger}
	c.Options.LibCHDB = filepath.Join(folder, "nothing.so") // fails after the streams
	if _, err := backup.Restore(t.Context(), c); err == nil {
		t.Fatal("restored without an engine")
	}
	if _, err := app.New(t.Context(), o); !errors.Is(err, datadir.ErrRestoring) {
		t.Errorf("a service starts on a half restored folder: %v", err)
	}
	c.Options = o.Options
	if _, err := backup.Restore(t.Context(), c); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("restored over a half restored folder: %v", err)
	}
	if err := os.RemoveAll(o.Data); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Restore(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	a := first(t, o)
	run(t, a)
	awaitRecords(t, a, func(rows []row) bool { return len(rows) == 1 && rows[0].Count == 3 })
}

// TestBackupOfAPurgedLog: what the log has lost to its room is in the tables and in the
// snapshot of the records. Both are restored, and a replay gives the same.
func TestBackupOfAPurgedLog(t *testing.T) {
	o := testOptions(t)
	o.LogMaxBytes = 16 << 20
	o.KeyEventsPerMinute, o.ProjectEventsPerMinute = 0, 0
	a := build(t, o)
	stop := run(t, a)
	admin, ingest := key(t, a.Welcome().AdminKeyFile), key(t, a.Welcome().IngestKeyFile)
	const problems = 40
	sent := fillLog(t, a.Welcome().URL, ingest, problems)
	folder := filepath.Join(t.TempDir(), "backup")
	m, err := backup.Make(t.Context(), o.Data, folder, nil)
	if err = errors.Join(err, stop()); err != nil {
		t.Fatal(err)
	}
	for _, s := range m.Streams {
		if s.Name == "LOG" && s.First == 1 {
			t.Fatalf("the log was not purged: %+v", s)
		}
	}
	o.Data, o.Registry = filepath.Join(t.TempDir(), "restored"), nil
	if _, err := backup.Restore(t.Context(), backup.RestoreConfig{Folder: folder, Data: o.Data, Options: o.Options, Logger: o.Logger}); err != nil {
		t.Fatal(err)
	}
	a = first(t, o)
	run(t, a)
	var told struct {
		Data struct {
			Swapped bool
			From    uint64
			Live    struct{ Records, Count uint64 }
		}
	}
	status, body := request(t, http.MethodPost, a.Welcome().URL+"/api/v1/admin/ops/replay", admin, "")
	if err := json.Unmarshal([]byte(body), &told); err != nil || status != http.StatusOK {
		t.Fatalf("replay: %d %s (%v)", status, body, err)
	}
	if d := told.Data; !d.Swapped || d.From < 2 || d.Live.Records != problems || d.Live.Count != uint64(sent) {
		t.Errorf("sent %d events of %d problems: %s", sent, problems, body)
	}
}
