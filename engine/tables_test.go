package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	errata "github.com/errata-log/errata"
)

var errRefused = errors.New("connection refused")

func TestCheckTables(t *testing.T) {
	for name, test := range map[string]struct {
		tables []string
		err    error
		ok     bool
		parts  []string
	}{
		"tables":               {ok: true},
		"tables without fsync": {tables: []string{"answers", "records"}, parts: []string{"answers, records", "ALTER TABLE"}},
		"not to be asked":      {err: errRefused, parts: []string{"refused"}},
	} {
		c := checkTables(t.Context(), func(context.Context) ([]string, error) { return test.tables, test.err })
		if c.Name != "table sync" || c.OK != test.ok || c.OK != (c.Hint == "") {
			t.Errorf("%s: %+v, want ok %v", name, c, test.ok)
		}
		for _, part := range test.parts {
			if !strings.Contains(c.Detail+" "+c.Hint, part) {
				t.Errorf("%s: got %+v, want %q in it", name, c, part)
			}
		}
	}
}

func TestReady(t *testing.T) {
	if err := ready(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Errorf("well: %v", err)
	}
	err := ready(t.Context(), func(context.Context) error { return errRefused })
	var told *errata.Error
	if !errors.As(err, &told) || told.Kind != errata.KindStoreUnavailable || strings.Contains(told.Message, errRefused.Error()) {
		t.Errorf("away: %v, want store_unavailable without the cause in the message", err)
	}
}

// People look at the checks while something is wrong, so a frozen ClickHouse must not
// delay them.
func TestChecksAnswerWhileClickHouseIsFrozen(t *testing.T) {
	thaw := make(chan struct{})
	defer close(thaw)
	c := checkTables(t.Context(), func(context.Context) ([]string, error) {
		<-thaw
		return nil, errRefused
	})
	if c.OK || !strings.Contains(c.Detail, context.DeadlineExceeded.Error()) {
		t.Errorf("%+v", c)
	}
}
