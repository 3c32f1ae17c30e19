package selfcheck

import (
	"fmt"
	"time"
)

// late is after how long without a look that came to something an operator
// should know.
const late = 5 * lookPause

// Tell says what the look found, to an operator at the time now.
func (r Result) Tell(now time.Time) (ok bool, detail, hint string) {
	switch {
	case r.At.IsZero():
		return true, "the first one has not ended yet", ""
	case len(r.Damage) > 0:
		return false, r.Damage[0].String(), "see the alarms"
	case r.Err != nil:
		return now.Sub(r.Good) < late, fmt.Sprintf("came to nothing: %v", r.Err), "see the check of clickhouse"
	}
	detail = fmt.Sprintf("%d records that count %d events, as their checkpoint says; %d of %d parts read, %d MiB, in %v, %v ago",
		r.Records, r.Events, r.Parts, r.Of, r.Bytes>>20, r.Took.Round(time.Millisecond), now.Sub(r.At).Round(time.Second))
	if m := r.Mended; !m.At.IsZero() {
		detail += fmt.Sprintf("; the last mend was at %s: %s", m.At.UTC().Format(time.RFC3339), m.What)
	}
	return true, detail, ""
}
