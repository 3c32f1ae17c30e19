package errata_test

import (
	"encoding/json"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
)

// An Instant that is read is the one that was written.
func TestInstantIsReadAsWritten(t *testing.T) {
	for text, want := range map[string]time.Time{
		`"2026-11-21T03:58:25.123Z"`: time.Date(2026, 11, 21, 3, 58, 25, 123e6, time.UTC),
		`null`:                       {},
	} {
		got := errata.Instant(time.Unix(1, 0))
		if err := json.Unmarshal([]byte(text), &got); err != nil || time.Time(got) != want {
			t.Errorf("%s is read as %v, %v", text, time.Time(got), err)
		}
		if again, err := json.Marshal(got); err != nil || string(again) != text {
			t.Errorf("%s is written as %s, %v", text, again, err)
		}
	}
	var got errata.Instant
	for _, text := range []string{`"yesterday"`, `7`} {
		if json.Unmarshal([]byte(text), &got) == nil {
			t.Errorf("%s is read as %v", text, time.Time(got))
		}
	}
}
