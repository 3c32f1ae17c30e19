package ticker_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/alerts/ticker"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// nodes are tickers on one log with one clock.
type nodes struct {
	t     *testing.T
	log   eventlog.Log
	now   time.Time
	rules alerts.Set
	read  uint64 // ticks that were seen already
}

func newNodes(t *testing.T) *nodes {
	t.Helper()
	env := testenv.NewBroker(t)
	return &nodes{t: t, now: time.Unix(1_000*60, 0), rules: alerts.Set{{ID: "quiet", Enabled: true, When: alerts.When{Quiet: &alerts.Quiet{Minutes: 5}}}}, log: eventlog.Log{
		NATS: env.NATS, JetStream: env.JetStream, Stream: migrations.StreamName(env.Namespace), Prefix: migrations.SubjectPrefix(env.Namespace),
	}}
}

func (n *nodes) node() *ticker.Ticker {
	n.t.Helper()
	one, err := ticker.New(ticker.Config{
		Log: n.log, Alerts: func() (alerts.Set, alerts.Channels) { return n.rules, nil }, Now: func() time.Time { return n.now },
	})
	if err != nil {
		n.t.Fatal(err)
	}
	return one
}

// tick moves the clock and lets the nodes look.
func (n *nodes) tick(after time.Duration, all ...*ticker.Ticker) {
	n.t.Helper()
	n.now = n.now.Add(after)
	for _, one := range all {
		if err := ticker.Tick(one, n.t.Context()); err != nil {
			n.t.Fatal(err)
		}
	}
}

// want checks the new ticks: minute, since, minute, since.
func (n *nodes) want(what string, want ...int64) {
	n.t.Helper()
	state, err := eventlog.Inspect(n.t.Context(), n.log)
	if err != nil {
		n.t.Fatal(err)
	}
	got := []int64{}
	for ; n.read < state.Last; n.read++ {
		r, err := eventlog.NewReader(n.t.Context(), n.log, n.read+1)
		if err != nil {
			n.t.Fatal(err)
		}
		f, err := r.Next(n.t.Context())
		tick, ok := eventlog.DecodeTick(f.Data)
		if r.Close(); err != nil || !ok {
			n.t.Fatalf("%+v, %v", f, err)
		}
		got = append(got, tick.Minute, tick.Since)
	}
	if diff := cmp.Diff(append([]int64{}, want...), got); diff != "" {
		n.t.Errorf("%s (-want +got)\n%s", what, diff)
	}
}

// TestTwoNodesTickOnceAMinute: and each knows since when there was one of them.
func TestTwoNodesTickOnceAMinute(t *testing.T) {
	n := newNodes(t)
	one := n.node()
	n.tick(30*time.Second, one)
	n.tick(10*time.Second, one)
	n.want("one node", 1000, 1000)
	n.tick(50*time.Second, one)
	n.want("a minute later", 1001, 1000)
	two := n.node() // it starts at 1001
	n.tick(time.Minute, two, one)
	n.tick(time.Minute, one, two)
	n.want("two nodes", 1002, 1000, 1003, 1000)
	n.tick(5*time.Minute, two)
	n.want("the log was away", 1008, 1008)
	n.tick(time.Minute, one)
	n.want("for both", 1009, 1008)
}

// TestTicksEndWithTheRules: without a rule that needs them there are none.
func TestTicksEndWithTheRules(t *testing.T) {
	n := newNodes(t)
	quiet := n.rules
	for name, rules := range map[string]alerts.Set{
		"none": nil, "another": {{ID: "new", Enabled: true, When: alerts.When{New: true}}}, "one that is off": {{ID: "off", When: quiet[0].When}},
	} {
		n.rules = rules
		n.tick(time.Minute, n.node())
		n.want(name)
	}
	one := n.node()
	begun := n.now.Unix() / 60
	n.tick(time.Hour, one)
	n.want("none for an hour")
	n.rules = quiet
	n.tick(time.Minute, one)
	n.want("a new rule knows the hour", begun+61, begun)
	n.rules = nil
	n.tick(time.Hour, one)
	n.rules = quiet
	n.tick(time.Minute, one)
	n.want("and the next one", begun+122, begun)
}

// TestARestartIsNoBreak: a longer one is, and a project is not quiet because nobody listened.
func TestARestartIsNoBreak(t *testing.T) {
	n := newNodes(t)
	n.tick(0, n.node())
	n.want("first", 1000, 1000)
	n.now = n.now.Add(2 * time.Minute)
	n.tick(time.Minute, n.node())
	n.want("after a restart", 1003, 1000)
	n.now = n.now.Add(20 * time.Minute)
	again := n.node()
	n.tick(time.Minute, again)
	n.want("after a break", 1024, 1023)
	n.tick(-10*time.Minute, again)
	n.want("a clock that was set back", 1014, 1014)
}

// TestTickerRuns: it looks by itself until it is stopped.
func TestTickerRuns(t *testing.T) {
	n := newNodes(t)
	looked := make(chan struct{}, 1)
	one, err := ticker.New(ticker.Config{Log: n.log, Now: func() time.Time { return n.now }, Alerts: func() (alerts.Set, alerts.Channels) {
		select {
		case looked <- struct{}{}:
		default:
		}
		return nil, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	one.Start()
	<-looked
	if err := one.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := ticker.New(ticker.Config{}); err == nil {
		t.Error("a ticker without a log")
	}
}
