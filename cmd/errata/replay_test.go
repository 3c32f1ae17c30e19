package main

import (
	"strings"
	"testing"

	"github.com/errata-log/errata/projector"
)

// TestReplayTellsWhatWasCompared: a replay says what became of the records, and what
// was left out because an older version has made them.
func TestReplayTellsWhatWasCompared(t *testing.T) {
	for _, c := range []struct {
		of   projector.Comparison
		want string
	}{
		{projector.Comparison{Swapped: true}, "both are the same; the rebuilt records are shown now\n"},
		{projector.Comparison{Swapped: true, Outdated: true}, "both are the same; levels were not compared, because an older version took them from the first event; the rebuilt records are shown now\n"},
		{projector.Comparison{Swapped: true, Outdated: true, Differences: []string{"records"}}, "they differ; the records of the log are shown now\n  records\n"},
		{projector.Comparison{Outdated: true, Differences: []string{"records"}}, "they differ; everything is as it was\n  records\n"},
	} {
		var out strings.Builder
		if err := printReplay(&out, c.of); err != nil || !strings.HasSuffix(out.String(), c.want) {
			t.Errorf("%+v: %v, %s\nwant at its end %s", c.of, err, out.String(), c.want)
		}
	}
}
