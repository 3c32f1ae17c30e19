package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/errata-log/errata/internal/load"
)

// benchReport is what "errata bench" found. What was not measured is nil.
type benchReport struct {
	Rows       []benchRow       `json:"rows"`
	Accepted   int64            `json:"accepted"` // with the first event, which is in no row
	Refused    map[string]int64 `json:"refused"`  // by status
	Unanswered int64            `json:"unanswered"`
	Shown      *shown           `json:"shown"`
	// ProcessorAll are seconds of the server for a thousand events, with what it did
	// until it showed them.
	ProcessorAll *float64 `json:"processor_seconds_until_shown"`
	failure      error    // the first
}

// benchRow is what was measured with one number of connections.
type benchRow struct {
	Connections   int      `json:"connections"`
	PerSecond     float64  `json:"events_per_second"`
	SinkPerSecond float64  `json:"sink_events_per_second"`
	Ratio         float64  `json:"ratio"`
	P50           *float64 `json:"p50_ms"`
	P99           *float64 `json:"p99_ms"`
	// Processor are seconds for a thousand events.
	Processor     *float64         `json:"processor_seconds"`
	SinkProcessor *float64         `json:"sink_processor_seconds"`
	Memory        *int64           `json:"memory_bytes"`
	SinkMemory    *int64           `json:"sink_memory_bytes"`
	Stolen        *float64         `json:"stolen"`
	Accepted      int64            `json:"accepted"`
	Refused       map[string]int64 `json:"refused"`
	Unanswered    int64            `json:"unanswered"`
}

func (row *benchRow) took(r load.Result) {
	row.Accepted += r.Events
	row.Unanswered += r.Unanswered
	row.Refused = added(row.Refused, r.Refused)
}

func (r *benchReport) took(one load.Result) {
	r.Accepted += one.Events
	r.Unanswered += one.Unanswered
	r.refused(one.Refused)
	if r.failure == nil {
		r.failure = one.Failure
	}
}

func (r *benchReport) refused(more map[string]int64) { r.Refused = added(r.Refused, more) }

func added(to, more map[string]int64) map[string]int64 {
	if to == nil {
		to = map[string]int64{}
	}
	for status, n := range more {
		to[status] += n
	}
	return to
}

// sent is how many events the server may have.
func (r *benchReport) sent() int64 {
	sum := r.Accepted + r.Unanswered
	for _, n := range r.Refused {
		sum += n
	}
	return sum
}

// verdict is an error when the server shows less than it accepted, or more than it got.
func (r *benchReport) verdict() error {
	if r.Shown != nil && (r.Shown.More < r.Accepted || r.Shown.More > r.sent()) {
		return errSilent // the summary says it
	}
	return nil
}

var benchColumns = []column{
	{name: "CONNS", right: true}, {name: "EVENTS/S", right: true}, {name: "NULL SINK", right: true}, {name: "RATIO", right: true},
	{name: "P50 MS", right: true}, {name: "P99 MS", right: true}, {name: "CPU S/1000", right: true}, {name: "SINK CPU", right: true, leave: 2},
	{name: "MEMORY MB", right: true}, {name: "SINK MB", right: true, leave: 3}, {name: "STOLEN", right: true, leave: 1},
}

func printBench(w io.Writer, width int, r *benchReport) error {
	rows := make([][]string, len(r.Rows))
	for i, row := range r.Rows {
		rows[i] = []string{
			strconv.Itoa(row.Connections), fmt.Sprintf("%.0f", row.PerSecond), fmt.Sprintf("%.0f", row.SinkPerSecond), ratioText(row.Ratio),
			measured(row.P50, "%.2f"), measured(row.P99, "%.1f"), measured(row.Processor, "%.3f"), measured(row.SinkProcessor, "%.3f"),
			megabytes(row.Memory), megabytes(row.SinkMemory), percent(row.Stolen),
		}
	}
	return printTable(w, width, benchColumns, rows)
}

// ratioText shows a digit also of a slow server.
func ratioText(ratio float64) string {
	if ratio < 0.1 {
		return fmt.Sprintf("%.3f", ratio)
	}
	return fmt.Sprintf("%.2f", ratio)
}

// none stands in the table for what was not measured; the summary says why.
const none = "-"

func measured(x *float64, format string) string {
	if x == nil {
		return none
	}
	return fmt.Sprintf(format, *x)
}

func megabytes(n *int64) string {
	if n == nil {
		return none
	}
	return fmt.Sprintf("%.0f", float64(*n)/1e6)
}

func percent(share *float64) string {
	if share == nil {
		return none
	}
	return fmt.Sprintf("%.1f %%", 100**share)
}

const notMeasured = "not measured"

// unmeasured says which figures of the server are missing; "" for none.
func (r *benchReport) unmeasured() string {
	for _, row := range r.Rows {
		if row.Processor == nil || row.Memory == nil {
			return "CPU and memory: " + notMeasured + ", or not all; give the processes of the server with --pid, on Linux"
		}
	}
	return ""
}

// summary says what became of the events.
func (r *benchReport) summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\naccepted  %d events, answered with 2xx\n", r.Accepted)
	for _, status := range slices.Sorted(maps.Keys(r.Refused)) {
		fmt.Fprintf(&b, "refused   %d events, answered with %s\n", r.Refused[status], printed(status))
	}
	if r.Unanswered > 0 {
		fmt.Fprintf(&b, "no answer %d events\n", r.Unanswered)
	}
	if r.failure != nil {
		fmt.Fprintf(&b, "first     %s\n", printed(r.failure.Error()))
	}
	b.WriteString("shown     " + r.shownText() + "\n")
	if r.ProcessorAll != nil {
		fmt.Fprintf(&b, "CPU       %.3f s for 1,000 accepted events, until they were shown\n", *r.ProcessorAll)
	}
	if text := r.unmeasured(); text != "" {
		b.WriteString(text + "\n")
	}
	return b.String()
}

func (r *benchReport) shownText() string {
	if r.Shown == nil {
		return notMeasured + ": give --shown, or for Errata --url and --key"
	}
	text := fmt.Sprintf("%d events more than before, %.1f s after the load: ", r.Shown.More, r.Shown.Seconds)
	switch more := r.Shown.More - r.Accepted; {
	case more == 0:
		return text + "all that were accepted"
	case more < 0:
		return text + fmt.Sprintf("%d of those accepted are MISSING (%.2f %%)", -more, 100*float64(-more)/float64(r.Accepted))
	case r.Shown.More > r.sent():
		return text + fmt.Sprintf("%d MORE THAN WERE SENT", r.Shown.More-r.sent())
	default:
		return text + fmt.Sprintf("all that were accepted, and %d that were refused or have no answer", more)
	}
}
