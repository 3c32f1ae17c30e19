package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/errata-log/errata/internal/load"
)

func TestBenchMistakes(t *testing.T) {
	const dsn = "http://k@127.0.0.1:1/1"
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"no server", nil, "--dsn: give the DSN"},
		{"no key", []string{"--dsn", "http://127.0.0.1:1/1"}, "is not of the form"},
		{"no project", []string{"--dsn", "http://k@127.0.0.1:1/"}, "is not of the form"},
		{"no DSN", []string{"--dsn", "127.0.0.1"}, "is not of the form"},
		{"TLS", []string{"--dsn", "https://k@127.0.0.1:1/1"}, "TLS is not measured"},
		{"no connections", []string{"--dsn", dsn, "--connections", "0"}, "--connections: 0"},
		{"too many connections", []string{"--dsn", dsn, "--connections", "16,4097"}, "--connections: 4097"},
		{"not a number of connections", []string{"--dsn", dsn, "--connections", "few"}, "connections"},
		{"no rounds", []string{"--dsn", dsn, "--rounds", "0"}, "--rounds: 0"},
		{"a short span", []string{"--dsn", dsn, "--span", "1ms"}, "--span: 1ms is shorter than 100ms"},
		{"no problems", []string{"--dsn", dsn, "--signatures", "0"}, "--signatures: 0"},
		{"more problems than there are", []string{"--dsn", dsn, "--signatures", strconv.Itoa(load.MaxProblems + 1)}, "--signatures"},
		{"no patience", []string{"--dsn", dsn, "--settle", "0s"}, "--settle: 0s"},
		{"arguments", []string{dsn}, "unknown command"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := command(t, nil, append([]string{"bench"}, c.args...)...); got.code != exitUsage || got.out != "" || !strings.Contains(got.err, c.want) {
				t.Errorf("got %+v, want code 2 and %q", got, c.want)
			}
		})
	}
}

func TestTargets(t *testing.T) {
	for dsn, want := range map[string]target{
		"http://k@127.0.0.1:8080/1":            {addr: "127.0.0.1:8080", host: "127.0.0.1:8080", publicKey: "k", prefix: "/", project: "1"},
		"http://k:secret@[::1]:8080/2":         {addr: "[::1]:8080", host: "[::1]:8080", publicKey: "k", prefix: "/", project: "2"},
		"http://k@errors.example.test/sub/a/3": {addr: "errors.example.test:80", host: "errors.example.test", publicKey: "k", prefix: "/sub/a", project: "3"},
	} {
		want.dsn = dsn
		if got, err := parseTarget(dsn); err != nil || *got != want {
			t.Errorf("%s: %+v, %v; want %+v", dsn, got, err, want)
		}
	}
}

// TestWhoGetsTheKey: the admin key goes to the service of the DSN only, or where --url
// says.
func TestWhoGetsTheKey(t *testing.T) {
	for _, c := range []struct {
		service, dsn string
		want         bool
	}{
		{"http://127.0.0.1:8080", "http://k@127.0.0.1:8080/1", true},
		{"http://localhost:8080", "http://k@127.0.0.1:8080/1", true},
		{"http://errors.example.test:80", "http://k@errors.example.test/1", true},
		{"http://127.0.0.1:8080", "http://k@127.0.0.1:8000/1", false},
		{"http://127.0.0.1:8080", "http://k@errors.example.test:8080/1", false},
		{"http://127.0.0.1", "http://k@127.0.0.1:8080/1", false},
	} {
		to, err := parseTarget(c.dsn)
		if err != nil {
			t.Fatal(err)
		}
		if got := sameAddress(c.service, to); got != c.want {
			t.Errorf("%s is the service of %s: %v, want %v", c.service, c.dsn, got, c.want)
		}
	}
}

// fixedReport is a report with everything in it, and one row that was hardly measured.
func fixedReport() *benchReport {
	return &benchReport{
		Rows: []benchRow{
			{Connections: 16, PerSecond: 9876.5, SinkPerSecond: 61_234, Ratio: 0.1613, P50: new(1.234), P99: new(12.34), Processor: new(0.1444), SinkProcessor: new(0.0161),
				Memory: new(int64(406_100_000)), SinkMemory: new(int64(41_000_000)), Stolen: new(0.0123), Accepted: 148_147},
			{Connections: 512, PerSecond: 7, SinkPerSecond: 1234, Ratio: 7.0 / 1234, Refused: map[string]int64{"429 Too Many Requests": 99}},
		},
		Accepted: 148_148, Refused: map[string]int64{"429 Too Many Requests": 100, "503 \x1b[31mBusy": 3}, Unanswered: 2,
		Shown: &shown{More: 148_148, Seconds: 1.26}, ProcessorAll: new(0.1512),
	}
}

func TestBenchTable(t *testing.T) {
	for name, width := range map[string]int{"bench": 0, "bench-100": 100, "bench-80": 80} {
		var out strings.Builder
		if err := printBench(&out, width, fixedReport()); err != nil {
			t.Fatal(err)
		}
		golden(t, name, out.String()+fixedReport().summary())
		for line := range strings.Lines(out.String()) {
			if n := cells(strings.TrimSuffix(line, "\n")); width > 0 && n > width {
				t.Errorf("%s: a line of %d cells", name, n)
			}
		}
	}
}

func TestBenchVerdict(t *testing.T) {
	for _, c := range []struct {
		more  int64
		bad   bool
		wants string
	}{
		{148_148, false, "all that were accepted"},
		{148_147, true, "1 of those accepted are MISSING (0.00 %)"},
		{0, true, "148148 of those accepted are MISSING (100.00 %)"},
		{148_150, false, "all that were accepted, and 2 that were refused or have no answer"},
		{148_148 + 105, false, "all that were accepted, and 105"},
		{148_148 + 106, true, "1 MORE THAN WERE SENT"},
	} {
		r := fixedReport()
		r.Shown.More = c.more
		if got := r.summary(); (r.verdict() != nil) != c.bad || !strings.Contains(got, c.wants) {
			t.Errorf("%d shown: %v, %s; want %q", c.more, r.verdict(), got, c.wants)
		}
	}
	r := fixedReport()
	r.Shown, r.ProcessorAll = nil, nil
	if got := r.summary(); r.verdict() != nil || !strings.Contains(got, "shown     not measured: give --shown") {
		t.Errorf("got %v, %s", r.verdict(), got)
	}
}

// peer is a server that speaks the Sentry protocol.
type peer struct {
	dsn, shown string // shown is the command for --shown
	got        atomic.Int64
}

// startPeer starts a peer. answer says how it answers the event number n, and whether it
// shows it.
func startPeer(t *testing.T, answer func(n int64) (status int, show bool)) *peer {
	t.Helper()
	t.Setenv(asProgram, "1") // for the null sink
	p := &peer{}
	var shows atomic.Int64
	shows.Store(7)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, strconv.FormatInt(shows.Load(), 10)+"\n")
			return
		}
		if r.URL.Path != "/sub/api/4/envelope/" || !strings.Contains(r.Header.Get("X-Sentry-Auth"), "sentry_key=k") {
			t.Errorf("got %s %s", r.Method, r.URL)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		status, show := answer(p.got.Add(1))
		if show {
			shows.Add(1)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "said why")
	}))
	t.Cleanup(server.Close)
	p.dsn = "http://k@" + server.Listener.Addr().String() + "/sub/4"
	p.shown = "echo events:; curl -fsS " + server.URL
	return p
}

func shortBench(p *peer, more ...string) []string {
	return append([]string{"bench", "--dsn", p.dsn, "--rounds", "1", "--span", "100ms", "--connections", "2", "--settle", "200ms"}, more...)
}

// TestBenchOfAServerThatDropsEvents: one in ten that it accepts is not shown.
func TestBenchOfAServerThatDropsEvents(t *testing.T) {
	p := startPeer(t, func(n int64) (int, bool) { return http.StatusOK, n%10 != 0 })
	got := command(t, nil, shortBench(p, "--shown", p.shown, "--pid", strconv.Itoa(os.Getppid()))...)
	want := strconv.FormatInt(p.got.Load()/10, 10) + " of those accepted are MISSING"
	if got.code != exitFailed || !strings.Contains(got.out, want) || !strings.Contains(got.out, "accepted  "+strconv.FormatInt(p.got.Load(), 10)+" events") {
		t.Errorf("got %+v, want code 1 and %q", got, want)
	}
	if !strings.Contains(got.err, "2 connections, round 1 of 1: ") {
		t.Errorf("stderr %q", got.err)
	}
}

// TestBenchOfABusyServer counts what is refused, and the table has what was taken.
func TestBenchOfABusyServer(t *testing.T) {
	var taken, busy atomic.Int64
	p := startPeer(t, func(n int64) (int, bool) {
		switch n % 3 {
		case 0:
			return http.StatusTooManyRequests, false
		case 1:
			busy.Add(1)
			return http.StatusServiceUnavailable, false
		default:
			taken.Add(1)
			return http.StatusAccepted, true
		}
	})
	got := command(t, nil, shortBench(p, "--shown", p.shown, "--json")...)
	var r benchReport
	if err := json.Unmarshal([]byte(got.out), &r); err != nil || got.code != exitOK || len(r.Rows) != 1 {
		t.Fatalf("got %+v, %v", got, err)
	}
	row := r.Rows[0]
	if r.Accepted != taken.Load() || r.Shown == nil || r.Shown.More != taken.Load() || row.Accepted != taken.Load() || row.PerSecond <= 0 || row.SinkPerSecond <= 0 {
		t.Errorf("%d taken, got %+v", taken.Load(), r)
	}
	if n := r.Refused["503 Service Unavailable"]; n != busy.Load() || r.Refused["429 Too Many Requests"] == 0 || r.Unanswered != 0 {
		t.Errorf("%d busy, got %+v", busy.Load(), r)
	}
	if row.Processor != nil || row.Memory != nil || row.SinkProcessor == nil || *row.SinkProcessor <= 0 {
		t.Errorf("without --pid: %+v", row)
	}
}

func TestBenchOfAServerThatNobodyAsks(t *testing.T) {
	p := startPeer(t, func(int64) (int, bool) { return http.StatusOK, true })
	got := command(t, nil, shortBench(p, "--data", t.TempDir())...)
	if got.code != exitOK || !strings.Contains(got.out, "shown     not measured") || !strings.Contains(got.out, "CPU and memory: not measured") {
		t.Errorf("got %+v", got)
	}
}

// TestBenchStops before the load where it would be for nothing.
func TestBenchStops(t *testing.T) {
	status := http.StatusUnauthorized
	p := startPeer(t, func(int64) (int, bool) { return status, false })
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"a wrong key", shortBench(p), `answered 401 Unauthorized: said why`},
		{"a command that fails", shortBench(p, "--shown", "echo broken >&2; exit 3"), "exit status 3: broken"},
		{"a command that says no number", shortBench(p, "--shown", "echo 5; echo many"), `the last line is "many"`},
		{"an Errata that is not there", shortBench(p, "--url", "http://127.0.0.1:1", "--key", "k"), "refused"},
		{"no key for the Errata", shortBench(p, "--url", "http://127.0.0.1:1", "--data", t.TempDir()), "--key @FILE"},
		{"no such process", shortBench(p, "--pid", "999999999"), "--pid: there is no process 999999999"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := command(t, nil, c.args...); got.code != exitFailed || got.out != "" || !strings.Contains(got.err, c.want) {
				t.Errorf("got %+v, want code 1 and %q", got, c.want)
			}
		})
	}
	if n := p.got.Load(); n != 1 {
		t.Errorf("%d events were sent, want the first one", n)
	}
}

// TestShownStandsStill: the number is believed when it has not changed for a while.
func TestShownStandsStill(t *testing.T) {
	var asked atomic.Int64
	count := func(numbers ...int64) counter {
		asked.Store(0)
		return func(_ context.Context) (int64, error) {
			return numbers[min(int(asked.Add(1)), len(numbers))-1], nil
		}
	}
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			name    string
			numbers []int64
			want    shown
			asked   int64
		}{
			{"at once", []int64{105}, shown{5, 0}, 1},
			{"later", []int64{100, 102, 105, 999}, shown{5, 1}, 3},
			{"never", []int64{100, 102}, shown{2, 0.5}, 6},
			{"too many", []int64{106}, shown{6, 0}, 5},
		} {
			got, err := awaitShown(t.Context(), count(c.numbers...), 100, 5, 2*time.Second)
			if err != nil || *got != c.want || asked.Load() != c.asked {
				t.Errorf("%s: %+v, %v, asked %d times; want %+v and %d", c.name, got, err, asked.Load(), c.want, c.asked)
			}
		}
	})
}

// useBench measures a real service with the same settings as other commands.
func useBench(t *testing.T, s *service, data string) {
	t.Setenv(asProgram, "1")
	dsn, err := os.ReadFile(filepath.Join(data, "keys", "dsn"))
	if err != nil {
		t.Fatal(err)
	}
	got := command(t, nil, "bench", "--dsn", strings.TrimSpace(string(dsn)), "--data", data, "--pid", strconv.Itoa(s.cmd.Process.Pid),
		"--rounds", "1", "--span", "100ms", "--connections", "1", "--signatures", "3", "--json")
	var r benchReport
	if err := json.Unmarshal([]byte(got.out), &r); err != nil || got.code != exitOK || len(r.Rows) != 1 {
		t.Fatalf("got %+v, %v", got, err)
	}
	row := r.Rows[0]
	if r.Accepted < 2 || r.Shown == nil || r.Shown.More != r.Accepted || row.Accepted != r.Accepted-1 || row.P99 == nil {
		t.Errorf("got %+v", r)
	}
	if runtime.GOOS == "linux" && (row.Processor == nil || row.Memory == nil || *row.Memory < 50e6 || r.ProcessorAll == nil || *r.ProcessorAll <= 0) {
		t.Errorf("got %+v", row)
	}
}
