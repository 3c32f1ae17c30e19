package referee

import (
	"fmt"
	"slices"
	"time"
)

// Record is a record, as the service shows it.
type Record struct {
	Signature string    `json:"signature"`
	Class     string    `json:"exception_class"`
	Count     int       `json:"count"`
	UserID    int64     `json:"user_id"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	Status    string    `json:"status"`
	Regressed bool      `json:"regressed"`
	// Payload is set in the detail of a record only.
	Payload struct {
		EventID string `json:"event_id"`
	} `json:"payload"`
}

// Verdict is how far records and ledger differ. All of it should be 0.
type Verdict struct {
	Lost  int `json:"lost"`  // accepted and not counted
	Twice int `json:"twice"` // counted more often than they were sent
	Back  int `json:"back"`  // records that were deleted and are there again
	Wrong int `json:"wrong"` // records with a wrong status, time, user or payload
	// Lines say where, the first ones of each kind.
	Lines []string `json:"lines,omitempty"`
}

// maxLines bounds the lines of a verdict.
const maxLines = 12

// OK says that nothing differs.
func (v Verdict) OK() bool { return v.Lost+v.Twice+v.Back+v.Wrong == 0 }

func (v *Verdict) say(format string, args ...any) {
	if len(v.Lines) < maxLines {
		v.Lines = append(v.Lines, fmt.Sprintf(format, args...))
	}
}

// Check compares the records, those of owned problems left out, with what the
// senders know.
func (l *Ledger) Check(records []Record) (v Verdict) {
	l.mu.Lock()
	defer l.mu.Unlock()
	doubts := map[int][]Event{}
	for _, e := range l.doubtful {
		doubts[e.Problem] = append(doubts[e.Problem], e)
	}
	shown := map[int]bool{}
	for _, r := range records {
		if IsOwned(r.Class) {
			continue
		}
		problem, ok := ParseClass(r.Class)
		if !ok || shown[problem] {
			v.Wrong++
			v.say("%s: a record that nobody sent, or the second of one problem", r.Class)
			continue
		}
		shown[problem] = true
		t := l.tallies[problem]
		if t == nil {
			t = &tally{}
		}
		v.compare(r, *t, doubts[problem])
	}
	for problem, t := range l.tallies {
		if !shown[problem] {
			v.Lost += t.count
			v.say("%s: there is no record, accepted were %d", Class(problem), t.count)
		}
	}
	slices.Sort(v.Lines)
	return v
}

// compare compares one record with what is certain and what is possible.
func (v *Verdict) compare(r Record, sure tally, doubts []Event) {
	switch {
	case r.Count < sure.count:
		v.Lost += sure.count - r.Count
		v.say("%s: count %d, accepted were %d", r.Class, r.Count, sure.count)
		return
	case r.Count > sure.count+len(doubts):
		v.Twice += r.Count - sure.count - len(doubts)
		v.say("%s: count %d, accepted were %d and in doubt are %d", r.Class, r.Count, sure.count, len(doubts))
		return
	}
	most := sure
	for _, e := range doubts {
		most.add(e.At)
	}
	within := func(at, a, b time.Time) bool { return !at.Before(a) && !at.After(b) }
	timely := within(r.FirstSeen, most.first, sure.first) && within(r.LastSeen, sure.last, most.last)
	if sure.count == 0 { // every event of the record is in doubt
		timely = within(r.FirstSeen, most.first, most.last) && within(r.LastSeen, most.first, most.last)
	}
	if !timely {
		v.Wrong++
		v.say("%s: first %v, last %v, want %v, %v (in doubt %d)", r.Class, r.FirstSeen, r.LastSeen, sure.first, sure.last, len(doubts))
	}
}

// CheckDetail compares one record, read with its payload, with the event of the
// payload: context and payload must be of the same event, and somebody must
// have sent it.
func (l *Ledger) CheckDetail(r Record) (v Verdict) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sender, n, ok := ParseID(r.Payload.EventID)
	if !ok || !l.known(sender, n) {
		v.Wrong++
		v.say("%s: the payload is of event %q, which no sender was told is accepted", r.Class, r.Payload.EventID)
		return v
	}
	e := l.World.Event(sender, n)
	if Class(e.Problem) != r.Class || e.User != r.UserID {
		v.Wrong++
		v.say("%s: user %d, and the payload is of event %s of %s and user %d", r.Class, r.UserID, e.ID, Class(e.Problem), e.User)
	}
	return v
}

// Add adds another verdict.
func (v *Verdict) Add(w Verdict) {
	v.Lost, v.Twice, v.Back, v.Wrong = v.Lost+w.Lost, v.Twice+w.Twice, v.Back+w.Back, v.Wrong+w.Wrong
	v.Lines = append(v.Lines, w.Lines[:min(len(w.Lines), maxLines-min(maxLines, len(v.Lines)))]...)
}
