package settings_test

import (
	"sync"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/settings"
	"github.com/errata-log/errata/test/testenv"
)

// foreign are messages that are no facts: an acknowledgement of JetStream, and
// a text that is no JSON.
var foreign = []string{`{"stream":"ERRORS","seq":1}`, `{"stream":"ERRORS","domain":"","seq":2,"duplicate":true}`, "", "poison", `{"v":1,"after":7}`, `[]`}

// A foreign message is ignored and counted: the value before it stays in force
// on all nodes, even on those that start later, and can be changed.
func TestForeignFactsAreLeftOut(t *testing.T) {
	env := testenv.NewBroker(t)
	log := logOf(env)
	node := open(t, env)
	put := func(text string) (sequence uint64) {
		t.Helper()
		ack, err := env.JetStream.Publish(t.Context(), log.Prefix+"set.logging", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return ack.Sequence
	}
	var want []uint64
	for _, text := range foreign { // before there is a value
		want = append(want, put(text))
	}
	if got := read(t, node); !got.ErrorLog || got.Development {
		t.Errorf("nothing was set and it is %+v", got)
	}
	set(t, node, func(l *errata.Logging) { l.Development = true })
	// More of them than one reading takes.
	for range 20 {
		for _, text := range foreign {
			want = append(want, put(text))
		}
	}
	var mu sync.Mutex
	skipped := map[uint64]bool{}
	late, err := settings.Open(t.Context(), settings.Config{Log: log, Skipped: func(sequence uint64, why error) {
		mu.Lock()
		defer mu.Unlock()
		skipped[sequence] = why != nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	if !late.Snapshot().Logging.Development {
		t.Error("a node that starts has lost the value")
	}
	if got := read(t, late); !got.Development {
		t.Errorf("the log says %+v", got)
	}
	mu.Lock()
	if last := want[len(want)-1]; !skipped[last] {
		t.Errorf("skipped %v, want the fact at %d", skipped, last)
	}
	mu.Unlock()
	if err := late.Republish(t.Context()); err != nil {
		t.Error(err)
	}
	set(t, node, func(l *errata.Logging) { l.QueryLogging = true })
	if got := read(t, late); !got.Development || !got.QueryLogging {
		t.Errorf("after a change: %+v", got)
	}
	// Nodes that follow the log ignore one as well, and read on.
	put(foreign[0])
	set(t, node, func(l *errata.Logging) { l.ErrorDebug = true })
	within(t, 20*time.Second, late, func(l errata.Logging) bool { return l.ErrorDebug && l.QueryLogging && l.Development })
}

// A fact of a newer version is not ignored: its value is not known.
func TestNewerFactsAreNotForeign(t *testing.T) {
	env := testenv.NewBroker(t)
	s := open(t, env)
	if _, err := eventlog.AppendSetting(t.Context(), logOf(env), "logging", []byte(`{"v":2,"after":"another form"}`), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ReadLogging(t.Context()); err == nil || errata.KindOf(err) != errata.KindInternal {
		t.Errorf("%v, want an error that says to update", err)
	}
}
