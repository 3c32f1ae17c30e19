package audit_test

import (
	"testing"

	"github.com/errata-log/errata/audit"
	"github.com/errata-log/errata/test/testenv"
)

// A node that is behind does not make it seem that entries are gone.
func TestTrailOnANodeThatIsBehind(t *testing.T) {
	l := openLedger(t)
	l.factBy(ada, "cmd.greet", 1)
	a, _ := l.start()
	l.catchUp(a)
	behind := func() *audit.Trail {
		cfg := l.cfg
		cfg.Log.JetStream = &testenv.Behind{JetStream: cfg.Log.JetStream, Consumers: 1}
		return audit.NewTrail(cfg)
	}
	page, err := behind().List(t.Context(), audit.Query{})
	if err != nil || len(page.Entries) == 0 {
		t.Errorf("the list has %d entries, %v", len(page.Entries), err)
	}
	report, err := behind().Verify(t.Context())
	if err != nil || report.Problem != nil || report.Entries == 0 {
		t.Errorf("the check says %+v, %v", report, err)
	}
}
