package engine

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/datadir"
)

func TestConfigNamesTheWrongField(t *testing.T) {
	both := Config{Options: Options{NATSURL: "nats://h", ClickHouseDSN: "clickhouse://h"}}
	held := &datadir.Dir{}
	for name, test := range map[string]struct {
		cfg  Config
		want string // "" for none
	}{
		"embedded without a folder":     {Config{}, "Dir"},
		"one external without a folder": {Config{Options: Options{NATSURL: "nats://h"}}, "Dir"},
		"both external":                 {both, ""},
		"embedded":                      {Config{Dir: held}, ""},
		"megabytes instead of bytes":    {Config{Dir: held, Options: Options{LogMaxBytes: 1024}}, "log-max-bytes"},
		"negative log":                  {Config{Dir: held, Options: Options{LogMaxBytes: -1}}, "log-max-bytes"},
		"little memory":                 {Config{Dir: held, ClickHouseMemory: 1 << 20}, "ClickHouseMemory"},
		"database with a quote":         {Config{Dir: held, Database: "a`b"}, "Database"},
		"database with a digit first":   {Config{Dir: held, Database: "1a"}, "Database"},
		"database":                      {Config{Dir: held, Database: "errata_2"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.cfg.withDefaults()
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one about %q", err, test.want)
			}
		})
	}
}

func TestLogRoom(t *testing.T) {
	const gib = 1 << 30
	for name, test := range map[string]struct{ free, used, want int64 }{
		"large disk":                         {500 * gib, 0, 10 * gib},
		"small disk":                         {5 * gib, 0, 4 * gib},
		"the log's own bytes count":          {3 * gib, 2 * gib, 4 * gib},
		"others filled the disk":             {0, 5 * gib, 5 * gib},
		"a full log does not grow by itself": {500 * gib, 11 * gib, 10 * gib},
		"no room at all":                     {0, 0, leastLogRoom},
	} {
		t.Run(name, func(t *testing.T) {
			got := logRoom(test.free, test.used)
			if math.Abs(float64(got-test.want)) > 16 { // the division drops some bytes
				t.Errorf("logRoom(%d, %d) = %d, want %d", test.free, test.used, got, test.want)
			}
		})
	}
}

func TestUsedBytes(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, size := range map[string]int{"x": 10, "a/y": 100, "a/b/z": 1000} {
		if err := os.WriteFile(filepath.Join(dir, path), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := usedBytes(dir); err != nil || got != 1110 {
		t.Errorf("usedBytes = %d, %v, want 1110", got, err)
	}
	if got, err := usedBytes(filepath.Join(dir, "absent")); err != nil || got != 0 {
		t.Errorf("usedBytes of no folder = %d, %v, want 0", got, err)
	}
}

func TestOlder(t *testing.T) {
	for _, test := range []struct {
		version, than string
		want          bool
	}{
		{"2.15.2", "2.15.2", false},
		{"2.15.1", "2.15.2", true},
		{"2.9.20", "2.15.2", true},
		{"2.16.0", "2.15.2", false},
		{"3.0", "2.15.2", false},
		{"2.15", "2.15.2", true},
		{"2.15.2-RC.1", "2.15.2", false},
		{"26.7.2.1", "26.5", false},
		{"25.12.1.1", "26.5", true},
		{"26.5.1.210", "26.5", false},
		{"", "26.5", true},
		{"x", "26.5", true},
	} {
		if got := older(test.version, test.than); got != test.want {
			t.Errorf("older(%q, %q) = %t, want %t", test.version, test.than, got, test.want)
		}
	}
}

func TestRestartWait(t *testing.T) {
	want := []time.Duration{0, 0, 0, 0, 100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond}
	for failures, want := range want {
		if got := restartWait(failures); got != want {
			t.Errorf("after %d failures it waits %s, want %s", failures, got, want)
		}
	}
	if got := restartWait(1000); got != childMaxWait {
		t.Errorf("after 1000 failures it waits %s, want %s", got, childMaxWait)
	}
}

func TestRedactURL(t *testing.T) {
	for address, want := range map[string]string{
		"nats://host:4222":              "nats://host:4222",
		"nats://user:secret@host:4222":  "nats://user:xxxxx@host:4222",
		"nats://a:1, nats://u:secret@b": "nats://a:1,nats://u:xxxxx@b",
		"nats://u:secret@host:port":     "the configured address",
	} {
		if got := redactURL(address); got != want {
			t.Errorf("redactURL(%q) = %q, want %q", address, got, want)
		}
	}
}

func TestViewsDatabase(t *testing.T) {
	for tables, want := range map[string]string{"errata_store": "errata", "errata": "errata_views", "mine": "mine_views"} {
		if got := ViewsDatabase(tables); got != want {
			t.Errorf("the views on %s are in %s, want %s", tables, got, want)
		}
	}
}

func TestExternalOptions(t *testing.T) {
	for name, test := range map[string]struct {
		dsn, database string
		want          string // the database
		err           string
	}{
		"database of the DSN":     {"clickhouse://u:p@h:9000/mine", "", "mine", ""},
		"database of the setting": {"clickhouse://u:p@h:9000/mine", "other", "other", ""},
		"no database":             {"clickhouse://u:p@h:9000", "", "errata_store", ""},
		"HTTP":                    {"http://u:p@h:8123/mine", "", "", "native protocol"},
		"bad port":                {"clickhouse://u:secret@h:port/mine", "", "", "invalid port"},
		"bad database":            {"clickhouse://u:p@h:9000/a-b", "", "", "a-b"},
	} {
		t.Run(name, func(t *testing.T) {
			writer, reader, err := externalOptions(ClickHouseConfig{DSN: test.dsn, Database: test.database})
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "secret") {
					t.Fatalf("error %v, want one about %q without the password", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if writer.Auth.Database != test.want || reader.Auth.Database != test.want {
				t.Errorf("databases %q and %q, want %q", writer.Auth.Database, reader.Auth.Database, test.want)
			}
			if writer.Settings["async_insert"] != 0 || writer.Settings["readonly"] != nil {
				t.Errorf("settings of the writer: %v", writer.Settings)
			}
			if reader.Settings["readonly"] != 2 {
				t.Errorf("settings of the reader: %v", reader.Settings)
			}
		})
	}
}
