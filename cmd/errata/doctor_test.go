package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"

	"github.com/errata-log/errata/test/certtest"
	"github.com/errata-log/errata/test/smtptest"
)

// doctor runs "errata doctor --json" and returns the findings by check.
func doctor(t *testing.T, environ []string, args ...string) (code int, found map[string]finding) {
	t.Helper()
	got := command(t, environ, append([]string{"doctor", "--json"}, args...)...)
	var report struct {
		OK     bool      `json:"ok"`
		Checks []finding `json:"checks"`
	}
	if err := json.Unmarshal([]byte(got.out), &report); err != nil {
		t.Fatalf("code %d, stdout %q, stderr %q: %v", got.code, got.out, got.err, err)
	}
	found = map[string]finding{}
	failed := false
	for _, f := range report.Checks {
		found[f.Check] = f
		failed = failed || f.State == stateFailed
		if (f.State == stateFailed || f.State == stateWarning) && f.Fix == "" {
			t.Errorf("%s: %s without a word on what to do", f.Check, f.State)
		}
	}
	if report.OK == failed || (got.code == exitFailed) != failed {
		t.Errorf("ok %v, code %d, failed checks %v", report.OK, got.code, failed)
	}
	return got.code, found
}

// TestDoctorOnThisMachine breaks one thing at a time.
//
// long: a table with a row for each thing.
func TestDoctorOnThisMachine(t *testing.T) {
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const external = "ERRATA_CLICKHOUSE_DSN=clickhouse://db:9000/errata"
	library := write("lib/libchdb.so", "", 0o600)
	program := write("lib/errata-engine", "", 0o700)
	shown := write("shown/keys/admin.key", "key", 0o644)
	secret := write("errata.yaml", "clickhouse-dsn: clickhouse://u:hunter2@db:9000/errata\n", 0o644)
	open := filepath.Join(folder, "open")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	soon := certtest.Template("errata.lan")
	soon.NotAfter = time.Now().Add(5 * 24 * time.Hour)
	ends, endsKey := certtest.New(t).Issue(t, soon).Write(t)
	cert, key := certtest.New(t).Issue(t, certtest.Template("errata.example.com")).Write(t)
	mailServer, away := smtptest.New(t, nil), smtptest.New(t, nil)
	away.Close()
	countries, stale := write("new.mmdb", countryDatabase(t, 0), 0o600), write("old.mmdb", countryDatabase(t, 200*24*time.Hour), 0o600)
	for _, c := range []struct {
		name    string
		environ []string
		args    []string
		check   string
		state   state
		parts   []string // of detail and fix
	}{
		{"folder to come", []string{external}, []string{"--data", folder + "/new/data"}, "data folder", stateOK, []string{"does not exist"}},
		{"folder", []string{external}, []string{"--data", folder}, "data folder", stateOK, []string{folder}},
		{"folder for everybody", []string{external}, []string{"--data", open}, "data folder", stateWarning, []string{"chmod 700 " + open}},
		{"folder is a file", []string{external}, []string{"--data", library}, "data folder", stateFailed, []string{"not a folder", "--data"}},
		{"keys for everybody", []string{external}, []string{"--data", folder + "/shown"}, "key files", stateFailed, []string{"chmod 600 " + shown}},
		{"no keys", []string{external}, []string{"--data", folder}, "key files", stateSkipped, nil},
		{"clock", []string{external}, []string{"--data", folder}, "clock", stateOK, nil},
		{"log larger than the disk", []string{external}, []string{"--data", folder, "--log-max-bytes", "4096TiB"}, "disk", stateFailed, []string{"4.00 PiB", "--log-max-bytes"}},
		{"log that fits", []string{external}, []string{"--data", folder, "--log-max-bytes", "16MiB"}, "disk", stateOK, []string{"16.0 MiB"}},
		{"log elsewhere", []string{external, "ERRATA_NATS_URL=nats://log:4222"}, []string{"--data", folder}, "disk", stateSkipped, nil},
		{"no library", nil, []string{"--data", folder, "--libchdb", folder + "/nothing.so"}, "engine", stateFailed, []string{"nothing.so", "make"}},
		{"no program", nil, []string{"--data", folder, "--libchdb", library, "--engine-binary", folder + "/nothing"}, "engine", stateFailed, []string{folder + "/nothing"}},
		{"engine", nil, []string{"--data", folder, "--libchdb", library, "--engine-binary", program}, "engine", stateOK, []string{program, library}},
		{"engine elsewhere", []string{external}, []string{"--data", folder}, "engine", stateSkipped, nil},
		{"password in an open file", nil, []string{"--data", folder, "--config", secret}, "configuration", stateFailed, []string{"chmod 600 " + secret}},
		{"no certificate", []string{external}, []string{"--data", folder}, "tls-cert", stateSkipped, []string{"tls-cert"}},
		{"certificate", []string{external}, []string{"--data", folder, "--tls-cert", cert, "--tls-key", key}, "tls-cert", stateOK, []string{"errata.example.com", "until"}},
		{"certificate that ends soon", []string{external}, []string{"--data", folder, "--tls-cert", ends, "--tls-key", endsKey}, "tls-cert", stateWarning, []string{"errata.lan", "renews"}},
		{"key of another certificate", []string{external}, []string{"--data", folder, "--tls-cert", cert, "--tls-key", endsKey}, "tls-cert", stateFailed, []string{"does not fit", "does not start"}},
		{"no certificate there", []string{external}, []string{"--data", folder, "--tls-cert", folder + "/nothing.pem", "--tls-key", key}, "tls-cert", stateFailed, []string{"no such file"}},
		{"certificate by ACME", []string{external}, []string{"--data", folder, "--tls-acme-domains", "errata.example.com"}, "tls-cert", stateSkipped, []string{"ACME"}},
		{"no certificate of NATS", []string{external}, []string{"--data", folder}, "nats-tls-cert", stateSkipped, nil},
		{"certificate of NATS", []string{external}, []string{"--data", folder, "--nats-listen", ":4222", "--nats-tls-cert", cert, "--nats-tls-key", key, "--nats-tls-client-ca", cert}, "nats-tls-cert", stateOK, []string{"errata.example.com"}},
		{"no authority of clients", []string{external}, []string{"--data", folder, "--nats-listen", ":4222", "--nats-tls-cert", cert, "--nats-tls-key", key, "--nats-tls-client-ca", key}, "nats-tls-cert", stateFailed, []string{"nats-tls-client-ca", "no certificate"}},
		{"certificate for analysts", nil, []string{"--data", folder, "--clickhouse-listen", ":9000", "--clickhouse-tls-cert", cert, "--clickhouse-tls-key", key}, "clickhouse-tls-cert", stateOK, []string{"errata.example.com"}},
		{"no mail", []string{external}, []string{"--data", folder}, "mail", stateSkipped, []string{"mail-module"}},
		{"mail", mailEnviron(t, mailServer, external), []string{"--data", folder}, "mail", stateOK, []string{"127.0.0.1", "answers"}},
		{"mail server away", mailEnviron(t, away, external), []string{"--data", folder}, "mail", stateFailed, []string{"refused", "smtp-host"}},
		{"no location database", []string{external}, []string{"--data", folder}, "location", stateSkipped, []string{"run errata geo install"}},
		{"no location database at all", []string{external}, []string{"--data", folder, "--geo-database", library}, "location", stateFailed, []string{library, "run errata geo install"}},
		{"location database", []string{external}, []string{"--data", folder, "--geo-database", countries}, "location", stateOK, []string{countries, "Test-Country", "countries", "0 days"}},
		{"old location database", []string{external}, []string{"--data", folder, "--geo-database", stale}, "location", stateWarning, []string{"200 days", "run errata geo install"}},
		{"nothing runs", []string{external}, []string{"--data", folder}, "service", stateSkipped, []string{"--url"}},
		{"nothing runs there", []string{external}, []string{"--data", folder, "--url", "http://127.0.0.1:1"}, "service", stateFailed, []string{"127.0.0.1:1", "refused"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, found := doctor(t, c.environ, c.args...)
			f := found[c.check]
			if f.State != c.state {
				t.Errorf("got %+v, want %s", f, c.state)
			}
			for _, part := range c.parts {
				if !strings.Contains(f.Detail+" "+f.Fix, part) {
					t.Errorf("got %+v, want %q in it", f, part)
				}
			}
			if strings.Contains(f.Detail+f.Fix, "hunter2") {
				t.Errorf("shows a password: %+v", f)
			}
		})
	}
}

// mailEnviron has the settings to send mails to s.
func mailEnviron(t *testing.T, s *smtptest.Server, more ...string) []string {
	t.Helper()
	cfg := s.Config()
	return append(more, "ERRATA_MAIL_MODULE=smtp", "ERRATA_SMTP_HOST="+cfg.Host, "ERRATA_SMTP_PORT="+strconv.Itoa(cfg.Port),
		"ERRATA_SMTP_TLS=none", "ERRATA_SMTP_USERNAME="+cfg.Username, "ERRATA_SMTP_PASSWORD=hunter2", "ERRATA_SMTP_FROM="+cfg.From)
}

// countryDatabase is a location database of that age with one country.
func countryDatabase(t *testing.T, age time.Duration) string {
	t.Helper()
	tree, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: "Test-Country", BuildEpoch: time.Now().Add(-age).Unix()})
	if err != nil {
		t.Fatal(err)
	}
	_, block, err := net.ParseCIDR("1.0.0.0/24")
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Insert(block, mmdbtype.Map{"country": mmdbtype.Map{"iso_code": mmdbtype.String("AU")}}); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if _, err := tree.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestDoctorForPeople(t *testing.T) {
	file := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := command(t, []string{"ERRATA_CLICKHOUSE_DSN=clickhouse://db:9000/errata"}, "doctor", "--data", file)
	if got.code != exitFailed || got.err != "" {
		t.Errorf("code %d, stderr %q", got.code, got.err)
	}
	for _, line := range []string{
		"ok       configuration  valid\n",
		"failed   data folder    " + file + " is not a folder\n                        → choose another folder with --data\n",
		"skipped  engine ",
		" checks failed.\n",
	} {
		if !strings.Contains(got.out, line) {
			t.Errorf("lacks %q:\n%s", line, got.out)
		}
	}
}

func TestClockBeforeTheBuild(t *testing.T) {
	future := build{Time: time.Now().Add(time.Hour).Format(time.RFC3339)}
	if f := checkClock(t.Context(), future); f.State != stateFailed || !strings.Contains(f.Detail, future.Time[:10]) {
		t.Errorf("got %+v, want a failure that names the day of the build", f)
	}
}

func TestRoundSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1 << 10: "1.00 KiB", 1536: "1.50 KiB", 10 << 30: "10.0 GiB",
		100 << 20: "100 MiB", 999 << 20: "999 MiB", 1023 << 20: "1.00 GiB", 4096 << 40: "4.00 PiB", 5 << 60: "5120 PiB",
	} {
		if got := roundSize(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}
