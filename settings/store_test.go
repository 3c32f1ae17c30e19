package settings_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/settings"
	"github.com/errata-log/errata/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func logOf(env *testenv.Broker) eventlog.Log {
	return eventlog.Log{
		NATS: env.NATS, JetStream: env.JetStream,
		Stream: migrations.StreamName(env.Namespace), Prefix: migrations.SubjectPrefix(env.Namespace),
	}
}

// open opens a store, as another node would, until the test ends.
func open(t *testing.T, env *testenv.Broker) *settings.Store {
	t.Helper()
	s, err := settings.Open(t.Context(), settings.Config{Log: logOf(env)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func read(t *testing.T, s *settings.Store) errata.Logging {
	t.Helper()
	l, err := s.ReadLogging(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func set(t *testing.T, s *settings.Store, change func(*errata.Logging)) errata.Logging {
	t.Helper()
	l, err := s.UpdateLogging(t.Context(), func(l errata.Logging) (errata.Logging, error) {
		change(&l)
		return l, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// within waits until the store's snapshot is as wanted, and says how long.
func within(t *testing.T, limit time.Duration, s *settings.Store, want func(errata.Logging) bool) time.Duration {
	t.Helper()
	began := time.Now()
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for !want(s.Snapshot().Logging) {
		if time.Since(began) > limit {
			t.Fatalf("after %v the snapshot is %+v", limit, s.Snapshot().Logging)
		}
		<-poll.C
	}
	return time.Since(began)
}

func check(t *testing.T, what string, got, want errata.Logging) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

var standard = errata.Logging{ErrorLog: true}

// facts are all settings on the log, oldest first.
func facts(t *testing.T, env *testenv.Broker) (all []eventlog.Fact) {
	t.Helper()
	state, err := eventlog.Inspect(t.Context(), logOf(env))
	if err != nil {
		t.Fatal(err)
	}
	r, err := eventlog.NewReader(t.Context(), logOf(env), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range state.Last {
		f, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if f.Kind == eventlog.FactSetting {
			all = append(all, f)
		}
	}
	return all
}

func TestUntilSomebodySetsThem(t *testing.T) {
	env := testenv.NewBroker(t)
	s := open(t, env)
	check(t, "read", read(t, s), standard)
	check(t, "snapshot", s.Snapshot().Logging, standard)
	same := set(t, s, func(l *errata.Logging) { l.ErrorLog = true })
	check(t, "changed to the same", same, standard)
	refusal := errors.New("no")
	if _, err := s.UpdateLogging(t.Context(), func(l errata.Logging) (errata.Logging, error) {
		l.Development = true
		return l, refusal
	}); !errors.Is(err, refusal) {
		t.Errorf("a refused change: %v", err)
	}
	if all := facts(t, env); len(all) != 0 {
		t.Errorf("%d facts were written for nothing", len(all))
	}
}

// TestFact pins the fact that the audit trail and other versions read.
func TestFact(t *testing.T) {
	env := testenv.NewBroker(t)
	s := open(t, env)
	by := errata.Actor{KeyID: "k1", KeyName: "root", RequestID: "r1"}
	if _, err := s.UpdateLogging(errata.WithActor(t.Context(), by), func(l errata.Logging) (errata.Logging, error) {
		l.QueryLoggingIPs = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::1/128")}
		return l, nil
	}); err != nil {
		t.Fatal(err)
	}
	all := facts(t, env)
	if len(all) != 1 || all[0].Name != "logging" || all[0].By != by {
		t.Fatalf("facts: %+v", all)
	}
	const rest = `"error_log":true,"error_debug":false,"development":false,"module_log":false,"query_logging":false,"query_logging_ips":`
	want := `{"v":1,"before":{` + rest + `[]},"after":{` + rest + `["10.0.0.0/8","2001:db8::1/128"]}}`
	if diff := cmp.Diff(want, string(all[0].Data)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestNobodyLosesAField: writers on two nodes set one field each, all at once.
func TestNobodyLosesAField(t *testing.T) {
	env := testenv.NewBroker(t)
	nodes := []*settings.Store{open(t, env), open(t, env)}
	changes := []func(*errata.Logging){
		func(l *errata.Logging) { l.ErrorLog = false },
		func(l *errata.Logging) { l.ErrorDebug = true },
		func(l *errata.Logging) { l.Development = true },
		func(l *errata.Logging) { l.ModuleLog = true },
		func(l *errata.Logging) { l.QueryLogging = true },
	}
	for i := range 3 {
		changes = append(changes, func(l *errata.Logging) {
			added := netip.MustParsePrefix(fmt.Sprintf("10.%d.0.0/16", i))
			l.QueryLoggingIPs = append(slices.Clone(l.QueryLoggingIPs), added)
		})
	}
	var writers sync.WaitGroup
	for i, change := range changes {
		writers.Go(func() { set(t, nodes[i%2], change) })
	}
	writers.Wait()
	for i, s := range nodes {
		got := read(t, s)
		slices.SortFunc(got.QueryLoggingIPs, func(a, b netip.Prefix) int { return a.Addr().Compare(b.Addr()) })
		check(t, fmt.Sprint("node ", i), got, errata.Logging{
			ErrorDebug: true, Development: true, ModuleLog: true, QueryLogging: true,
			QueryLoggingIPs: []netip.Prefix{
				netip.MustParsePrefix("10.0.0.0/16"), netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("10.2.0.0/16"),
			},
		})
	}
	if all := facts(t, env); len(all) != len(changes) {
		t.Errorf("%d facts for %d changes", len(all), len(changes))
	}
}

func TestEveryNodeSeesAChange(t *testing.T) {
	env := testenv.NewBroker(t)
	a, b := open(t, env), open(t, env)
	const rounds = 20
	var slowest time.Duration
	for i := range rounds {
		on := i%2 == 0
		set(t, a, func(l *errata.Logging) { l.Development = on })
		if a.Snapshot().Logging.Development != on {
			t.Fatal("the node that was asked does not show its own change")
		}
		slowest = max(slowest, within(t, time.Second, b, func(l errata.Logging) bool { return l.Development == on }))
	}
	t.Logf("slowest of %d changes on the other node's snapshot: %v", rounds, slowest)
	for i := range rounds {
		on := i%2 == 0
		set(t, b, func(l *errata.Logging) { l.ModuleLog = on })
		if read(t, a).ModuleLog != on {
			t.Fatal("a read right after the change does not show it on the other node")
		}
		if a.Snapshot().Logging.ModuleLog != on {
			t.Fatal("what a read has seen is not in the snapshot")
		}
	}
}

func TestSettingsOutliveTheService(t *testing.T) {
	env := testenv.NewBroker(t)
	first := open(t, env)
	want := set(t, first, func(l *errata.Logging) {
		l.ErrorLog, l.QueryLoggingIPs = false, []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}
	})
	first.Close()
	first.Close() // twice without harm
	check(t, "after Close", first.Snapshot().Logging, want)
	second := open(t, env)
	check(t, "snapshot right after the start", second.Snapshot().Logging, want)
	check(t, "read", read(t, second), want)
}

func TestFollowsAgainAfterAnOutage(t *testing.T) {
	env := testenv.NewBroker(t)
	if !env.Embedded() {
		t.Log("the engines are external and cannot be restarted; only following is checked")
	}
	a, b := open(t, env), open(t, env)
	for i := range 3 {
		set(t, a, func(l *errata.Logging) { l.ErrorDebug = i%2 == 0 })
		if env.Embedded() {
			env.RestartNATS()
		}
		set(t, a, func(l *errata.Logging) { l.QueryLogging = i%2 == 0 })
		took := within(t, 10*time.Second, b, func(l errata.Logging) bool { return l.QueryLogging == (i%2 == 0) })
		t.Logf("seen %v after the change, right after the restart", took)
		set(t, a, func(l *errata.Logging) { l.Development = i%2 == 0 })
		within(t, time.Second, b, func(l errata.Logging) bool { return l.Development == (i%2 == 0) })
	}
}

// TestWithoutTheLog: the last copy stays in force, callers are told to wait,
// and closing does not wait for an answer.
func TestWithoutTheLog(t *testing.T) {
	env := testenv.NewBroker(t)
	s := open(t, env)
	set(t, s, func(l *errata.Logging) { l.Development = true })
	gone := eventlog.Log{NATS: env.NATS, JetStream: env.JetStream, Stream: "NOWHERE", Prefix: "nowhere."}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := settings.Open(ctx, settings.Config{Log: gone}); errata.KindOf(err) != errata.KindLogUnavailable {
		t.Errorf("open without a log: %v, want log_unavailable", err)
	}
	if _, err := settings.Open(t.Context(), settings.Config{}); err == nil {
		t.Error("open without a configuration succeeded")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := s.ReadLogging(ended); errata.KindOf(err) != errata.KindLogUnavailable {
		t.Errorf("read: %v, want log_unavailable", err)
	}
	if _, err := s.UpdateLogging(ended, nil); errata.KindOf(err) != errata.KindLogUnavailable {
		t.Errorf("update: %v, want log_unavailable", err)
	}
	began := time.Now()
	s.Close()
	if took := time.Since(began); took > time.Second {
		t.Errorf("closing took %v", took)
	}
	if !s.Snapshot().Logging.Development {
		t.Error("the last copy is gone")
	}
}

// TestOtherVersions: fields that an older fact lacks have their standard value;
// a fact of a newer version is refused.
func TestOtherVersions(t *testing.T) {
	env := testenv.NewBroker(t)
	s := open(t, env)
	old, err := eventlog.AppendSetting(t.Context(), logOf(env), "logging", []byte(`{"v":1,"after":{"development":true},"later":1}`), 0)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "older", read(t, s), errata.Logging{ErrorLog: true, Development: true})
	for _, data := range []string{`{"v":2,"after":{"development":false}}`, `{"v":1,"after":{"development":"no"}}`, `{`} {
		newer, err := eventlog.AppendSetting(t.Context(), logOf(env), "logging", []byte(data), old)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.ReadLogging(t.Context()); errata.KindOf(err) != errata.KindInternal || err == nil {
			t.Errorf("%s: %v, want an internal error", data, err)
		}
		again := open(t, env)
		check(t, "a node that starts now", again.Snapshot().Logging, standard)
		old = newer
	}
	check(t, "the node that runs", s.Snapshot().Logging, errata.Logging{ErrorLog: true, Development: true})
	// A name that this version does not know is ignored.
	if _, err := eventlog.AppendSetting(t.Context(), logOf(env), "unheard-of", []byte(`{}`), 0); err != nil {
		t.Fatal(err)
	}
}
