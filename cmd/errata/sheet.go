package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// maxMessage is how many lines of a message are shown, and maxMessageLine how many
	// cells of each.
	maxMessage, maxMessageLine = 40, 2000
	// shownCrumbs are the last breadcrumbs, which say what led to the error.
	shownCrumbs = 12
	// maxFrames bounds the calls that are shown of one exception.
	maxFrames = 40
)

// sheet is the text about one record. Every text in it is printed.
type sheet struct {
	width int // 0 for no limit
	text  strings.Builder
}

// line adds a line that is cut at the width.
func (s *sheet) line(text string) { s.text.WriteString(cutTo(printed(text), s.width) + "\n") }

// whole adds a text that goes on in the next line of the terminal.
func (s *sheet) whole(text string) { s.text.WriteString(cutTo(printed(text), maxMessageLine) + "\n") }

func (s *sheet) head(text string) { s.line(""); s.line(text) }

// fact adds a name and its value; nothing for no value.
func (s *sheet) fact(name, value string) {
	if value != "" {
		s.whole(fmt.Sprintf("  %-13s %s", name, value))
	}
}

func (s *sheet) facts(r apiRecord) {
	status := r.Status
	if r.Regressed {
		status += ", seen again after it was resolved"
	}
	s.fact("error", r.name())
	s.fact("place", r.place())
	s.fact("level", r.Level)
	s.fact("status", status)
	s.fact("count", strconv.FormatUint(r.Count, 10))
	s.fact("users", strconv.FormatUint(r.Users, 10))
	s.fact("first seen", clock(r.FirstSeen, time.DateTime))
	s.fact("last seen", clock(r.LastSeen, time.DateTime))
	s.fact("project", cmp.Or(r.Project, "-"))
	s.fact("environments", strings.Join(r.Environments, ", "))
	s.fact("releases", strings.Join(r.Releases, ", "))
	s.fact("request", strings.TrimSpace(r.Method+" "+r.URI))
	if r.Overflow {
		s.fact("overflow", "it counts new problems of its class that came above the limit of the project")
	}
}

// message adds a text of several lines.
func (s *sheet) message(text string) {
	lines := strings.Split(strings.TrimRight(text, "\r\n"), "\n")
	for i, line := range lines {
		if i == maxMessage {
			s.line(fmt.Sprintf("  … %d more lines, see --json", len(lines)-i))
			return
		}
		s.whole("  " + strings.TrimRight(line, "\r"))
	}
}

// stack adds the exceptions, the thrown one first, each with its latest calls first. The
// payload has them the other way round.
func (s *sheet) stack(exceptions []exception, from string, allFrames bool) {
	if len(exceptions) == 0 {
		return
	}
	s.head("STACK of the " + from)
	for i, e := range slices.Backward(exceptions) {
		text := "  "
		if i < len(exceptions)-1 {
			text = "  with "
		}
		s.line(text + cmp.Or(e.Class, "(no class)") + ": " + e.Message)
		s.frames(e.Frames, allFrames)
	}
}

// frames adds the calls of the application. When none is marked as its own, all are.
func (s *sheet) frames(frames []frame, all bool) {
	known := false
	for _, f := range frames {
		known = known || f.InApp
	}
	shown, hidden := 0, 0
	tell := func() {
		if hidden > 0 {
			s.line(fmt.Sprintf("    … %d of libraries", hidden))
		}
		hidden = 0
	}
	for i, f := range slices.Backward(frames) {
		if known && !f.InApp && !all {
			hidden++
			continue
		}
		tell()
		if shown++; shown > maxFrames {
			s.line(fmt.Sprintf("    … %d earlier calls, see --json", i+1))
			return
		}
		s.line("    " + apiRecord{File: f.File, Line: f.Line}.place() + "  " + f.Function)
		if code := strings.TrimSpace(f.Context); code != "" {
			s.line("        " + code)
		}
	}
	tell()
}

func (s *sheet) crumbs(all []breadcrumb, from string) {
	if len(all) == 0 {
		return
	}
	last := all[max(0, len(all)-shownCrumbs):]
	s.head(fmt.Sprintf("BREADCRUMBS of the %s, the last %d of %d", from, len(last), len(all)))
	for _, b := range last {
		s.line(fmt.Sprintf("  %s  %s  %s", cmp.Or(clock(b.Time, time.TimeOnly), "-"), cmp.Or(b.Category, b.Type, "-"), strings.TrimSpace(b.Level+"  "+cmp.Or(b.Message, request(b.Data)))))
	}
}

// request is a request in words: senders put it into the data alone.
func request(data map[string]any) string {
	var words []string
	for _, name := range []string{"method", "url", "status_code"} {
		if value, ok := data[name]; ok && value != nil {
			words = append(words, fmt.Sprint(value))
		}
	}
	return strings.Join(words, " ")
}
