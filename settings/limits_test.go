package settings_test

import (
	"testing"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/settings"
	"github.com/errata-log/errata/test/testenv"
)

// TestSetLimits: limits are a fact when they change, and none when they do not:
// every start sets them.
func TestSetLimits(t *testing.T) {
	env := testenv.NewBroker(t)
	s := open(t, env)
	for _, c := range []struct {
		limit uint64
		want  string // the newest fact
	}{
		{0, ""},
		{10_000, `{"v":1,"before":{"new_records_per_hour":0},"after":{"new_records_per_hour":10000}}`},
		{10_000, `{"v":1,"before":{"new_records_per_hour":0},"after":{"new_records_per_hour":10000}}`},
		{0, `{"v":1,"before":{"new_records_per_hour":10000},"after":{"new_records_per_hour":0}}`},
	} {
		if err := s.SetLimits(t.Context(), settings.Limits{NewRecordsPerHour: c.limit}); err != nil {
			t.Fatal(err)
		}
		fact, _, err := eventlog.LastSetting(t.Context(), logOf(env), "limits")
		if err != nil || string(fact.Data) != c.want || s.Snapshot().Limits.NewRecordsPerHour != c.limit {
			t.Errorf("%d: %s, %v, in force %+v", c.limit, fact.Data, err, s.Snapshot().Limits)
		}
	}
}
