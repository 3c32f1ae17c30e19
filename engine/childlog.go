package engine

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

const (
	// maxChildLine bounds one line in bytes; a crash may print megabytes.
	maxChildLine = 500
	// maxPlainLines bounds the lines of one run that are not log lines of ClickHouse,
	// such as the goroutines that Go prints at a crash.
	maxPlainLines = 20
	// tailLines is how many of those lines are in the error of a failed start.
	tailLines = 5
)

// schedulePool begins the name of a component that warns at most starts that it
// "temporarily pauses" tasks. They go on within a second, and there is nothing to do.
const schedulePool = "BackgroundSchedulePool/"

// mergeEnded are in what ClickHouse reports of a merge or a mutation that was told to end: this
// service holds merges, or drops the table.
var mergeEnded = []string{"Cancelled merging parts", "Cancelled mutating parts", "MergeMutateSelectedEntry was not finalized"}

// childLog turns what the child writes into log records. It is an io.Writer
// for one run of the child.
type childLog struct {
	log *slog.Logger

	mu    sync.Mutex
	rest  []byte // the beginning of a line
	plain int
	tail  []string
	short []string // see shortfalls
}

// shortfall begins the lines in which errata-engine names a safety measure that it
// could not take.
const shortfall = "errata-engine: without "

// shortfalls are the safety measures that the child could not take.
func (c *childLog) shortfalls() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.short)
}

// Write takes any piece of the child's output.
func (c *childLog) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rest = append(c.rest, p...)
	for {
		end := bytes.IndexByte(c.rest, '\n')
		if end < 0 {
			break
		}
		c.line(string(c.rest[:min(end, 4*maxChildLine)]))
		c.rest = c.rest[end+1:]
	}
	if len(c.rest) > 64<<10 { // no line of a log is that long
		c.rest = nil
	}
	return len(p), nil
}

// last is the child's output besides log lines, for the error of a failed start.
// Call it after the child has ended.
func (c *childLog) last() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.rest) > 0 {
		c.line(string(c.rest))
		c.rest = nil
	}
	return strings.Join(c.tail, " ")
}

func (c *childLog) line(text string) {
	level, component, message, ok := parseChildLine(text)
	if ok {
		// Errors of a query or a connection are answered to the client, which is
		// this process. A second report here would show the query's text.
		if component == "executeQuery" || strings.Contains(component, "TCPHandler") {
			return
		}
		if strings.HasPrefix(component, schedulePool) || isMergeEnded(message) {
			level = min(level, slog.LevelDebug)
		}
		c.log.Log(context.Background(), level, message, "component", component)
		return
	}
	text = strings.TrimSpace(text)
	if text == "" || isStackLine(text) || strings.HasPrefix(text, "(version ") { // the end of a stack
		return
	}
	text = shortened(text)
	if what, ok := strings.CutPrefix(text, shortfall); ok {
		c.short = append(c.short, what)
	}
	if c.plain++; c.plain <= maxPlainLines {
		c.log.Warn(text)
	}
	if c.tail = append(c.tail, text); len(c.tail) > tailLines {
		c.tail = c.tail[1:]
	}
}

func isMergeEnded(message string) bool {
	return slices.ContainsFunc(mergeEnded, func(part string) bool { return strings.Contains(message, part) })
}

// parseChildLine reads one line of ClickHouse's log:
//
//	2026.11.21 06:35:09.170320 [ 341 ] {query id} <Error> component: message
func parseChildLine(line string) (level slog.Level, component, message string, ok bool) {
	if len(line) < 20 || line[4] != '.' || line[7] != '.' || line[10] != ' ' || line[13] != ':' {
		return 0, "", "", false
	}
	_, rest, ok := strings.Cut(line, "} <")
	if !ok {
		return 0, "", "", false
	}
	name, rest, ok := strings.Cut(rest, "> ")
	if !ok {
		return 0, "", "", false
	}
	component, message, ok = strings.Cut(rest, ": ")
	if !ok {
		component, message = "", rest
	}
	switch name {
	case "Fatal", "Critical", "Error":
		level = slog.LevelError
	case "Warning":
		level = slog.LevelWarn
	case "Notice", "Information":
		level = slog.LevelInfo
	default:
		level = slog.LevelDebug
	}
	return level, component, shortened(message), true
}

// shortened cuts the query's text, which may hold what people searched for, and the
// stack behind it.
func shortened(message string) string {
	for _, mark := range []string{" (in query: ", ", Stack trace", " Stack trace ("} {
		message, _, _ = strings.Cut(message, mark)
	}
	if len(message) > maxChildLine {
		message = strings.ToValidUTF8(message[:maxChildLine], "") + " …"
	}
	return message
}

// isStackLine recognises a frame of ClickHouse's stack traces: "12. ? @ 0x00…".
func isStackLine(text string) bool {
	number, rest, ok := strings.Cut(text, ". ")
	return ok && number != "" && strings.Trim(number, "0123456789") == "" && strings.Contains(rest, " @ 0x")
}
