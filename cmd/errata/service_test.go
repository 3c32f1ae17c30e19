package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/errata-log/errata/test/testenv"
)

const (
	// readyTimeout and visibleTimeout are far above the usual times: they mean
	// "never".
	readyTimeout   = 60 * time.Second
	visibleTimeout = 20 * time.Second
)

// service is "errata serve" as a process of its own.
type service struct {
	cmd    *exec.Cmd
	banner string
	url    string
	log    *strings.Builder // complete once stop has returned
}

// serveProcess starts the service on a data folder, with more in its
// environment, and waits for its banner.
func serveProcess(t *testing.T, data string, environ ...string) *service {
	t.Helper()
	cmd := exec.Command(os.Args[0], "serve", "--data", data, "--listen", "127.0.0.1:0", "--log-max-bytes", "64MiB")
	cmd.Env = append(os.Environ(), asProgram+"=1", "ERRATA_ENGINE_BINARY="+testenv.EngineBinary(t))
	cmd.Env = append(cmd.Env, environ...)
	s := &service{cmd: cmd, log: &strings.Builder{}}
	cmd.Stderr = s.log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill() // a test that failed before its stop
			_ = cmd.Wait()
		}
	})
	watchdog := time.AfterFunc(readyTimeout, func() { _ = cmd.Process.Kill() })
	defer watchdog.Stop()
	s.read(t, bufio.NewReader(out))
	return s
}

var urlOfBanner = regexp.MustCompile(`^Errata (?:is ready|takes events) at (\S+)`)

// read reads the banner. The last line of the long one begins with two spaces; the short
// one has one line.
func (s *service) read(t *testing.T, out *bufio.Reader) {
	t.Helper()
	for {
		line, err := out.ReadString('\n')
		if err != nil {
			t.Fatalf("the service ended: %v\n%s%s", s.cmd.Wait(), s.banner, s.log)
		}
		s.banner += line
		if found := urlOfBanner.FindStringSubmatch(line); found != nil {
			s.url = found[1]
		}
		short := strings.HasPrefix(line, "Errata is ready") && strings.Contains(line, "admin key in")
		short = short || strings.HasPrefix(line, "Errata takes events")
		if short || strings.HasPrefix(line, "  "+os.Args[0]+" ") {
			return
		}
	}
}

// stop asks for a clean stop and returns how long it took.
func (s *service) stop(t *testing.T) time.Duration {
	t.Helper()
	began := time.Now()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the service did not end well: %v\n%s", err, s.log)
	}
	return time.Since(began)
}

// shell runs a command of the banner.
func shell(t *testing.T, script string) string {
	t.Helper()
	var errs strings.Builder
	cmd := exec.CommandContext(t.Context(), "sh", "-euc", script)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s\n%v: %s%s", script, err, out, errs.String())
	}
	return string(out)
}

// commands are the commands of a banner: indented lines, with the lines in which they
// continue.
func commands(banner string) []string {
	var found []string
	goesOn := false
	for line := range strings.Lines(banner) {
		text := strings.TrimSpace(line)
		switch {
		case goesOn:
			found[len(found)-1] += "\n" + text
		case strings.HasPrefix(text, "curl ") || strings.HasPrefix(text, "export ") || strings.HasPrefix(text, os.Args[0]+" "):
			found = append(found, text)
		default:
			continue
		}
		goesOn = strings.HasSuffix(text, `\`)
	}
	return found
}

// TestFirstStartForAPerson does what people do: start the service, paste the printed
// commands, use the other commands, stop, start again.
//
// long: one day of one operator, whose steps build on each other.
func TestFirstStartForAPerson(t *testing.T) {
	data := filepath.Join(t.TempDir(), "an operator's data") // to be quoted
	began := time.Now()
	s := serveProcess(t, data)
	t.Logf("first start: %v", time.Since(began))

	steps := commands(s.banner)
	if len(steps) != 4 {
		t.Fatalf("%d commands in the banner, want 4:\n%s", len(steps), s.banner)
	}
	if got := shell(t, steps[0]); !strings.Contains(got, `"accepted":1`) {
		t.Errorf("the first error was answered with %s", got)
	}
	awaitListed(t, steps[1], `"exception_class":"FirstError"`)
	if got := shell(t, steps[2]+"\nprintf %s \"$ERRATA_KEY\""); !strings.HasPrefix(got, "eik_adm_") {
		t.Errorf("the exported key is %q", got)
	}
	if got := shell(t, "export "+asProgram+"=1\n"+steps[2]+"\n"+steps[3]); !regexp.MustCompile(`^DSN  http://\S+/2\nkey  eik_ing_\w+\n$`).MatchString(got) {
		t.Errorf("the first project of one's own was answered with %q", got)
	}
	noSecrets(t, s, data)

	t.Run("healthcheck", func(t *testing.T) {
		if got := command(t, nil, "healthcheck", "--data", data); got.code != exitOK || got.out != "ready\n" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("keys", func(t *testing.T) { useKeys(t, s, data) })
	t.Run("projects", func(t *testing.T) { useProjects(t, s, data) })
	t.Run("alerts", func(t *testing.T) { useAlerts(t, s, data) })
	t.Run("errors", func(t *testing.T) { useErrors(t, data) })
	if got := command(t, nil, "cluster", "leave", "c:6222", "--data", data); got.code != exitFailed || !strings.Contains(got.err, "in no cluster") {
		t.Errorf("a node of no cluster leaves: %+v", got)
	}
	t.Run("mcp", func(t *testing.T) { useMCP(t, s, data) })
	t.Run("reset-ip", func(t *testing.T) { resetIP(t, s, data) })
	t.Run("bench", func(t *testing.T) { useBench(t, s, data) })
	t.Run("doctor", func(t *testing.T) { askDoctor(t, data) })
	t.Run("second service", func(t *testing.T) {
		got := command(t, nil, "serve", "--data", data, "--listen", "127.0.0.1:0")
		if got.code != exitFailed || !strings.Contains(got.err, "in use") || !strings.Contains(got.err, data) {
			t.Errorf("got %+v, want a failure that names the folder", got)
		}
	})

	t.Logf("stop: %v", s.stop(t))
	if got := command(t, nil, "healthcheck", "--data", data, "--url", s.url); got.code != exitFailed || !strings.Contains(got.err, "refused") {
		t.Errorf("healthcheck of a stopped service: %+v", got)
	}

	began = time.Now()
	again := serveProcess(t, data)
	t.Logf("second start: %v", time.Since(began))
	if lines := strings.Count(again.banner, "\n"); lines != 1 || !strings.Contains(again.banner, "DSN http://") {
		t.Errorf("the second banner has %d lines, want one with the DSN:\n%s", lines, again.banner)
	}
	awaitListed(t, strings.ReplaceAll(steps[1], s.url, again.url), `"exception_class":"FirstError"`)
	again.stop(t)
}

// awaitListed repeats a command until its output holds part.
func awaitListed(t *testing.T, script, part string) {
	t.Helper()
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	late := time.After(visibleTimeout)
	for {
		got := shell(t, script)
		if strings.Contains(got, part) {
			return
		}
		select {
		case <-poll.C:
		case <-late:
			t.Fatalf("after %v the list is %s", visibleTimeout, got)
		}
	}
}

// noSecrets looks for the keys where they must not be: on the command lines of the
// service and its child, in the banner, and in files that every user can read.
func noSecrets(t *testing.T, s *service, data string) {
	t.Helper()
	places := map[string]string{"banner": s.banner}
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/"} {
		places[path] = shell(t, "curl -sS "+s.url+path)
	}
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range lines {
		if text, err := os.ReadFile(name); err == nil { // others end meanwhile
			places[name] = string(text)
		}
	}
	for _, file := range []string{"admin.key", "ingest.key"} {
		text, err := os.ReadFile(filepath.Join(data, "keys", file))
		if err != nil {
			t.Fatal(err)
		}
		for place, content := range places {
			if strings.Contains(content, strings.TrimSpace(string(text))) {
				t.Errorf("%s shows the key of %s", place, file)
			}
		}
	}
}

// useKeys makes a key, sees it listed, uses it, revokes it, and is refused.
func useKeys(t *testing.T, s *service, data string) {
	got := command(t, nil, "keys", "create", "web shop", "--project", "7", "--expires-in-days", "30", "--data", data)
	key := strings.TrimSpace(got.out)
	dsn := regexp.MustCompile(`(?m)^project 7, Sentry DSN http://[0-9a-f]{32}@` + regexp.QuoteMeta(strings.TrimPrefix(s.url, "http://")) + `/7$`)
	if got.code != exitOK || !strings.HasPrefix(key, "eik_ing_") || !dsn.MatchString(got.err) {
		t.Fatalf("create: %+v, want the key alone on stdout and the DSN of project 7 on stderr", got)
	}
	got = command(t, nil, "keys", "list", "--json", "--data", data)
	var keys []apiKey
	if err := json.Unmarshal([]byte(got.out), &keys); err != nil {
		t.Fatalf("list: %+v: %v", got, err)
	}
	i := slices.IndexFunc(keys, func(k apiKey) bool { return k.Name == "web shop" })
	if i < 0 || keys[i].State != "active" || keys[i].Project != 7 || keys[i].Kind != "ing" || keys[i].Key != "" {
		t.Fatalf("list: %+v", keys)
	}
	if got := command(t, nil, "keys", "list", "--data", data); got.code != exitOK ||
		!regexp.MustCompile(`(?m)^`+keys[i].ID+` +ing +ends soon +7 .*web shop$`).MatchString(got.out) {
		t.Errorf("list for people: %+v", got)
	}
	useLimitedKey(t, data)
	send := "curl -sS " + s.url + "/api/v1/events -H 'Authorization: Bearer " + key + `' -H 'Content-Type: application/json' -d '{"message":"m"}'`
	if got := shell(t, send); !strings.Contains(got, `"accepted":1`) {
		t.Errorf("send with the new key: %s", got)
	}

	got = command(t, []string{"ERRATA_URL=" + s.url, "ERRATA_KEY=@" + filepath.Join(data, "keys", "admin.key")}, "keys", "revoke", keys[i].ID)
	if got.code != exitOK || got.out != "revoked "+keys[i].ID+"\n" {
		t.Errorf("revoke: %+v", got)
	}
	if got := shell(t, send); !strings.Contains(got, `"unauthorized"`) {
		t.Errorf("send with the revoked key: %s", got)
	}

	for name, c := range map[string]struct {
		environ, args []string
		want          string
	}{
		"scopes are missing":  {nil, []string{"keys", "create", "x", "--kind", "adm", "--data", data}, "invalid_scope"},
		"there is no such id": {nil, []string{"keys", "revoke", "000000000000", "--data", data}, "not_found"},
		"an ingest key":       {[]string{"ERRATA_KEY=@" + filepath.Join(data, "keys", "ingest.key")}, []string{"keys", "list", "--data", data}, "insufficient_scope"},
		"a wrong key":         {[]string{"ERRATA_KEY=nonsense"}, []string{"keys", "list", "--data", data}, "unauthorized"},
		"no key":              {[]string{"ERRATA_URL=" + s.url}, []string{"keys", "list", "--data", t.TempDir()}, "--key @FILE"},
	} {
		if got := command(t, c.environ, c.args...); got.code != exitFailed || got.out != "" || !strings.Contains(got.err, c.want) {
			t.Errorf("%s: %+v, want a failure with %q", name, got, c.want)
		}
	}
}

// askDoctor checks a healthy service, and one whose status cannot be read.
func askDoctor(t *testing.T, data string) {
	engine := "ERRATA_ENGINE_BINARY=" + testenv.EngineBinary(t)
	code, found := doctor(t, []string{engine}, "--data", data)
	for _, check := range []string{"data folder", "key files", "disk", "clock", "engine", "service", "service clock",
		"nats", "log sync", "log storage", "clickhouse", "log", "table sync", "projector"} {
		if found[check].State != stateOK {
			t.Errorf("%s: %+v, want ok", check, found[check])
		}
	}
	if code != exitOK {
		t.Errorf("code %d of %+v, want 0", code, found)
	}
	code, found = doctor(t, []string{engine, "ERRATA_KEY=nonsense"}, "--data", data)
	if f := found["status"]; code != exitFailed || f.State != stateFailed || !strings.Contains(f.Fix, "--key") {
		t.Errorf("with a wrong key: code %d, %+v; want a failure that asks for the key", code, f)
	}
}

// TestKilledServiceLeavesNothingBehind kills the service and starts the next
// one on the same folder at once: the ClickHouse child must not be in its way.
func TestKilledServiceLeavesNothingBehind(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	s := serveProcess(t, data)
	steps := commands(s.banner)
	if got := shell(t, steps[0]); !strings.Contains(got, `"accepted":1`) {
		t.Fatalf("the first error was answered with %s", got)
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait() // "signal: killed"
	if got := command(t, nil, "doctor", "--data", data); strings.Contains(got.out, "ok       service") {
		t.Errorf("doctor finds a service that is gone:\n%s", got.out)
	}
	began := time.Now()
	again := serveProcess(t, data)
	t.Logf("start after kill -9: %v", time.Since(began))
	awaitListed(t, strings.ReplaceAll(steps[1], s.url, again.url), `"count":1`)
	again.stop(t)
}

// TestSignalWhileStarting asks a service to stop before it is ready.
func TestSignalWhileStarting(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), readyTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--log-level", "debug")
	cmd.Env = append(os.Environ(), asProgram+"=1", "ERRATA_ENGINE_BINARY="+testenv.EngineBinary(t))
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	var all strings.Builder
	asked := false
	for lines.Scan() {
		all.WriteString(lines.Text() + "\n")
		if !asked && strings.Contains(lines.Text(), `"part":"data folder"`) {
			asked = true
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil || !asked {
		t.Errorf("asked to stop: %v, end: %v\n%s", asked, err, all.String())
	}
}
