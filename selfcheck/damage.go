package selfcheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/errata-log/errata/projector"
)

// Kind says what is damaged.
type Kind int

// The kinds of damage, the smallest first.
const (
	// KindProjection: ClickHouse projections of a part. Its own rows are whole.
	KindProjection Kind = iota + 1
	// KindIndex: a file of a part beside its rows, such as a skip index.
	KindIndex
	// KindRows: rows of a part cannot be read.
	KindRows
	// KindMissing: a part is missing.
	KindMissing
	// KindDiffer: number or counts of the records differ from their checkpoint.
	KindDiffer
	// KindLost: the records are gone, and their checkpoint too.
	KindLost
)

// Damage is one damaged or missing part of a table, or a table that is wrong.
type Damage struct {
	Kind        Kind
	Table, Part string // Part is "" for damage of a whole table
	Rows        uint64 // of the part
	Projections []string
	First       uint64 // for KindLost: the first fact of the log
	What        string // for people
}

// String is the sentence for logs and alarms.
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
		b.WriteString("the rows are whole, but a file beside them is damaged: ")
	case KindRows:
		b.WriteString("rows cannot be read: ")
	case KindMissing:
		b.WriteString("it is missing: ")
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

// beside reports whether only a ClickHouse projection or an index is damaged: a
// query that reads the rows alone is still right.
func (d Damage) beside() bool { return d.Kind == KindProjection || d.Kind == KindIndex }

// remade reports whether a replay of the log makes the table again.
func (d Damage) remade() bool {
	return d.Table == "" || d.Table == tableRecords || d.Table == projector.LatestContexts || followed(d.Table)
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
)

// followed reports whether the parts of the table are followed by their block
// numbers: a replay makes the table again, and it has no totals that show what is
// missing. The parts of other tables go by age.
func followed(table string) bool {
	return table == tableContexts || slices.Contains(projector.Rollups, table)
}
