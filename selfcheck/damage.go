package selfcheck

import (
	"fmt"
	"strings"
)

// Kind says what is damaged.
type Kind int

// The kinds of damage, the least first.
const (
	// KindProjection: projections of a part, which holds their rows itself too.
	KindProjection Kind = iota + 1
	// KindIndex: a file of a part beside its rows, such as a skip index.
	KindIndex
	// KindRows: rows of a part cannot be read.
	KindRows
	// KindMissing: a part is not there any more.
	KindMissing
	// KindDiffer: the records do not add up to what their checkpoint says.
	KindDiffer
	// KindLost: the records are gone, with their checkpoint.
	KindLost
)

// Damage is one thing that is not as it was written.
type Damage struct {
	Kind        Kind
	Table, Part string // "" for what is not of one part
	Rows        uint64 // of the part
	Projections []string
	First       uint64 // fact that the log begins with, of what is lost
	What        string // for people
}

// String names it.
func (d Damage) String() string {
	var b strings.Builder
	if d.Part != "" {
		fmt.Fprintf(&b, "part %s of table %s (%d rows): ", d.Part, d.Table, d.Rows)
	}
	if d.Part == "" && d.Table != "" {
		fmt.Fprintf(&b, "table %s: ", d.Table)
	}
	switch d.Kind {
	case KindProjection:
		fmt.Fprintf(&b, "projection %s is broken: ", strings.Join(d.Projections, ", "))
	case KindIndex:
		b.WriteString("the rows are whole, a file beside them is not: ")
	case KindRows:
		b.WriteString("rows cannot be read: ")
	case KindMissing:
		b.WriteString("it is gone: ")
	case KindDiffer, KindLost:
	}
	b.WriteString(d.What)
	return b.String()
}

// alarm is the name of the alarm that the damage raises.
func (d Damage) alarm() string {
	if d.Kind == KindDiffer || d.Kind == KindLost {
		return AlarmRecords
	}
	return AlarmParts
}

// beside says that only what stands beside the rows is damaged: who reads the
// rows alone gets all of them.
func (d Damage) beside() bool { return d.Kind == KindProjection || d.Kind == KindIndex }

// remade says that a replay of the log makes the table again.
func (d Damage) remade() bool {
	return d.Table == "" || d.Table == tableRecords || d.Table == tableContexts || d.Table == tableHourly
}

// Names of the alarms.
const (
	AlarmRecords = "records-differ"
	AlarmParts   = "parts-broken"
	AlarmEvents  = "events-missing"
)

const (
	tableRecords  = "records"
	tableContexts = "contexts"
	tableHourly   = "hourly"
)
