package background

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Pauses of a second or more end at the same moment of a second, at most half a second earlier or
// later than asked.
func TestTogether(t *testing.T) {
	now := time.Now()
	if pause := together(now, 3*time.Second); pause != 3*time.Second {
		t.Fatalf("without a moment a pause of 3 s is %v", pause)
	}
	t.Cleanup(func() { turn.Store(0) })
	WakeTogether()
	moment := func(pause time.Duration) int64 { return now.Add(pause).UnixNano() % int64(time.Second) }
	want := turn.Load()
	rapid.Check(t, func(t *rapid.T) {
		asked := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "pause"))
		now = time.Unix(0, rapid.Int64Range(0, 1<<61).Draw(t, "now"))
		got := together(now, asked)
		switch {
		case asked < time.Second:
			if got != asked {
				t.Errorf("a pause of %v is %v", asked, got)
			}
		case got < asked-time.Second/2 || got > asked+time.Second/2 || moment(got) != want:
			t.Errorf("a pause of %v is %v, and ends at %d ns of a second, not %d", asked, got, moment(got), want)
		}
	})
}
