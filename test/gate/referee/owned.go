package referee

import (
	"strings"
	"time"
)

// ownedPrefix begins the classes of problems that have an owner. Only the owner
// sends and changes them, one request after the other, so that it always knows
// what the record must be.
const ownedPrefix = "Owned"

// IsOwned says whether a class belongs to an owner.
func IsOwned(class string) bool { return strings.HasPrefix(class, ownedPrefix) }

// OwnedClass is the class of an owner's problem.
func OwnedClass(owner, problem int) string {
	return ownedPrefix + strings.ToUpper(letters(1+owner)) + letters(1+problem)
}

// Owned is what the record of an owned problem must be.
type Owned struct {
	Class, Signature string
	Count            int // sightings since the latest delete
	Deletes          int
	Status           string
	Regressed        bool
	First, Last      time.Time
	FirstID          string // of the first sighting since the latest delete
}

// Sight counts one accepted event.
func (o *Owned) Sight(id string, at time.Time) {
	if o.Count == 0 {
		o.First, o.Last, o.Status, o.Regressed, o.FirstID = at, at, "open", false, id
	}
	o.Count++
	if at.Before(o.First) {
		o.First = at
	}
	if at.After(o.Last) {
		o.Last = at
	}
	if o.Status == "resolved" {
		o.Status, o.Regressed = "open", true
	}
}

// Delete is for a delete that succeeded.
func (o *Owned) Delete() {
	*o = Owned{Class: o.Class, Signature: o.Signature, Deletes: o.Deletes + 1}
}

// Move is for a change of the status that succeeded.
func (o *Owned) Move(status string) {
	if o.Count > 0 {
		o.Status, o.Regressed = status, false
	}
}

// CheckOwned compares the records of owned problems.
func CheckOwned(problems []*Owned, records []Record) (v Verdict) {
	rows := map[string]Record{}
	for _, r := range records {
		if IsOwned(r.Class) {
			rows[r.Class] = r
		}
	}
	for _, o := range problems {
		r, there := rows[o.Class]
		delete(rows, o.Class)
		v.compareOwned(*o, r, there)
	}
	for class := range rows {
		v.Wrong++
		v.say("%s: a record that no owner sent", class)
	}
	return v
}

func (v *Verdict) compareOwned(o Owned, r Record, there bool) {
	switch {
	case !there && o.Count == 0:
	case !there:
		v.Lost += o.Count
		v.say("%s: there is no record, accepted were %d", o.Class, o.Count)
	case o.Count == 0 || r.Count > o.Count && o.Deletes > 0:
		v.Back++
		v.say("%s: count %d after a delete and %d sightings since", o.Class, r.Count, o.Count)
	case r.Count > o.Count:
		v.Twice += r.Count - o.Count
		v.say("%s: count %d, accepted were %d", o.Class, r.Count, o.Count)
	case r.Count < o.Count:
		v.Lost += o.Count - r.Count
		v.say("%s: count %d, accepted were %d", o.Class, r.Count, o.Count)
	case r.Status != o.Status || r.Regressed != o.Regressed || !r.FirstSeen.Equal(o.First) || !r.LastSeen.Equal(o.Last):
		v.Wrong++
		v.say("%s: %s, regressed %v, first %v, last %v, want %s, %v, %v, %v",
			o.Class, r.Status, r.Regressed, r.FirstSeen, r.LastSeen, o.Status, o.Regressed, o.First, o.Last)
	}
}
