package main

import (
	"bytes"
	"context"
	"flag"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// TestMain lets this test binary act as the program, so that tests can run it as a
// process of its own.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// asProgram makes the test binary behave as the program.
const asProgram = "ERRATA_TEST_AS_PROGRAM"

// outcome is the result of a command line.
type outcome struct {
	code     int
	out, err string
}

// command runs a command line in this process, with an empty environment but
// for the variables given.
func command(t *testing.T, environ []string, args ...string) outcome {
	t.Helper()
	return commandWithInput(t, "", environ, args...)
}

// commandWithInput is command for one that reads what a person types.
func commandWithInput(t *testing.T, input string, environ []string, args ...string) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(t.Context(), &terminal{args: args, environ: environ, in: strings.NewReader(input), out: &out, err: &errs})
	return outcome{code, out.String(), errs.String()}
}

// golden compares text with testdata/NAME.golden.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run the test with -update", err)
	}
	if text != string(want) {
		t.Errorf("differs from %s; look at it, then run with -update\ngot:\n%s\nwant:\n%s", path, text, want)
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{
		{}, {"serve"}, {"projects"}, {"projects", "create"}, {"projects", "list"}, {"projects", "show"}, {"errors"}, {"errors", "list"}, {"errors", "show"}, {"errors", "resolve"}, {"errors", "mute"}, {"errors", "delete"}, {"errors", "tail"}, {"keys"}, {"keys", "create"}, {"keys", "list"}, {"keys", "revoke"}, {"keys", "show"},
		{"audit"}, {"audit", "list"}, {"audit", "verify"}, {"import"}, {"replay"}, {"backup"}, {"restore"}, {"log"}, {"log", "verify"}, {"log", "accept"}, {"log", "repair"}, {"dead"}, {"dead", "list"}, {"dead", "replay"}, {"dead", "drop"}, {"security"}, {"security", "reset-ip"}, {"geo"}, {"geo", "install"},
		{"signature"}, {"signature", "explain"}, {"alerts"}, {"alerts", "rules"}, {"alerts", "rules", "create"}, {"alerts", "rules", "enable"}, {"alerts", "rules", "disable"}, {"alerts", "rules", "delete"},
		{"alerts", "channels"}, {"alerts", "channels", "create"}, {"alerts", "channels", "enable"}, {"alerts", "channels", "disable"}, {"alerts", "channels", "delete"}, {"alerts", "deliveries"}, {"alerts", "test"},
		{"doctor"}, {"healthcheck"}, {"bench"}, {"config"}, {"config", "print"}, {"version"},
	} {
		name := strings.Join(append([]string{"help"}, args...), "-")
		got := command(t, nil, append(args, "-h")...)
		if got.code != exitOK || got.err != "" {
			t.Errorf("%s: code %d, stderr %q", name, got.code, got.err)
		}
		golden(t, name, got.out)
		for line := range strings.Lines(got.out) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > helpWidth {
				t.Errorf("%s: line of %d characters: %s", name, n, line)
			}
		}
	}
}

func TestUsageMistakes(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"serv"}, `did you mean "serve"?`},
		{[]string{"nonsense"}, `unknown command "nonsense"`},
		{[]string{"serve", "--lisen", ":1"}, "unknown flag: --lisen"},
		{[]string{"serve", "extra"}, "extra"},
		{[]string{"config"}, "print, validate"},
		{[]string{"keys"}, "create, list, revoke, show"},
		{[]string{"projects"}, "create, list, show"},
		{[]string{"projects", "show"}, "arg"},
		{[]string{"errors"}, "delete, list, mute, resolve, show, tail"},
		{[]string{"errors", "resolve"}, "arg"},
		{[]string{"errors", "list", "--level", "error"}, "unknown flag: --level"},
		{[]string{"keys", "revoke"}, "arg"},
		{[]string{"keys", "nonsense"}, "nonsense"},
		{[]string{"keys", "show"}, "arg"},
		{[]string{"keys", "show", "../signin.secret"}, "signin.secret"},
		{[]string{"config", "validate", "--log-level=loud"}, `--log-level: "loud"`},
		{[]string{"serve", "--log-level=loud"}, `--log-level: "loud"`},
		{[]string{"healthcheck", "--config", "nowhere.yaml"}, "nowhere.yaml"},
	} {
		got := command(t, nil, c.args...)
		if got.code != exitUsage || got.out != "" || !strings.Contains(got.err, c.want) {
			t.Errorf("%q: code %d, stdout %q, stderr %q; want code 2 and %q", c.args, got.code, got.out, got.err, c.want)
		}
	}
}

func TestConfigPrint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "errata.yaml")
	if err := os.WriteFile(path, []byte("listen: :9000\ndata: /srv/data folder\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := []string{
		"ERRATA_CLICKHOUSE_DSN=clickhouse://errata:hunter2@db:9000/errata",
		"ERRATA_NATS_URL=nats://hunter2@log:4222", "ERRATA_LAZY_SYNC=true",
		"ERRATA_MAIL_MODULE=smtp", "ERRATA_SMTP_HOST=mail", "ERRATA_SMTP_USERNAME=errata", "ERRATA_SMTP_PASSWORD=hunter2",
		"ERRATA_SMTP_FROM=Errata <errata@example.com>",
	}
	got := command(t, environ, "config", "print", "--config", path, "--listen", ":9001")
	if got.code != exitOK || got.err != "" {
		t.Fatalf("code %d, stderr %q", got.code, got.err)
	}
	golden(t, "config-print", strings.ReplaceAll(got.out, path, "FILE"))
	if strings.Contains(got.out, "hunter2") {
		t.Error("shows a password")
	}

	// The output is a configuration file with the same settings.
	again := filepath.Join(t.TempDir(), "again.yaml")
	if err := os.WriteFile(again, []byte(got.out), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := command(t, nil, "config", "validate", "--config", again); got.code != exitOK {
		t.Errorf("the printed file is not valid: %s", got.err)
	}
}

func TestVersion(t *testing.T) {
	got := command(t, nil, "version", "--json")
	if got.code != exitOK || !strings.Contains(got.out, `"version":"dev"`) || !strings.Contains(got.out, `"go":"go1.`) {
		t.Errorf("code %d, stdout %q", got.code, got.out)
	}
	if got := command(t, nil, "version"); !strings.HasPrefix(got.out, "errata dev ") {
		t.Errorf("stdout %q", got.out)
	}
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := command(t, nil, "completion", shell); got.code != exitOK || !strings.Contains(got.out, "errata") {
			t.Errorf("%s: code %d, %d bytes, stderr %q", shell, got.code, len(got.out), got.err)
		}
	}
}

func TestStoppedBeforeItStarts(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	code := run(ctx, &terminal{args: []string{"serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0"}, out: &out, err: &errs})
	if code != exitOK || out.Len() > 0 {
		t.Errorf("code %d, stdout %q, stderr %q; want a silent end", code, out.String(), errs.String())
	}
}

// listenLocal listens on a free port of this machine until the test ends.
func listenLocal(t *testing.T) net.Listener {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}
