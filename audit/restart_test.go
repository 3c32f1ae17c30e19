package audit_test

import (
	"testing"

	"github.com/errata-log/errata/test/testenv"
)

// TestNATSComesBack: an auditor goes on by itself after NATS was away.
func TestNATSComesBack(t *testing.T) {
	env := testenv.NewBroker(t)
	l := newLedger(t, env)
	t.Cleanup(l.close)
	a, _ := l.start()
	l.fact("cmd.greet", 1)
	l.createKey("before")
	l.catchUp(a)
	if env.Embedded() {
		env.RestartNATS()
	}
	l.fact("cmd.greet", 2)
	l.createKey("after")
	l.catchUp(a)
	if got := len(l.entries()); got != 4 {
		t.Errorf("%d entries, want 4", got)
	}
	l.checkComplete()
}
