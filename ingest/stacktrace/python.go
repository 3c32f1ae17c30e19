package stacktrace

import (
	"strings"

	"github.com/errata-log/errata/ingest"
)

// traceback begins each trace of a text that Python prints.
const traceback = "Traceback (most recent call last)"

// Python prints one of these lines between the trace of an exception and that of the one
// that was raised because of it, or while it was handled.
const (
	directCause = "\nThe above exception was the direct cause of the following exception:\n"
	whileCaught = "\nDuring handling of the above exception, another exception occurred:\n"
)

// Causes are the exceptions that led to the thrown one, the oldest first, as Python prints
// them before it; nil if the text names none. Of too many it keeps the latest.
func Causes(text string) (causes []ingest.Exception) {
	for {
		trace, rest, more := cutCause(text)
		if !more {
			return causes
		}
		text = rest
		class, message := raised(trace)
		if class == "" {
			continue
		}
		frames, _ := Parse(trace)
		if len(causes) == ingest.MaxExceptions-1 {
			causes = append(causes[:0], causes[1:]...)
		}
		causes = append(causes, ingest.Exception{Class: class, Message: message, Frames: frames})
	}
}

// Module is the module of the thrown exception as Python prints it behind its trace:
// "sqlite3" of "sqlite3.OperationalError". It is "" if another class stands there.
func Module(text, class string) string {
	for {
		_, rest, more := cutCause(text)
		if !more {
			break
		}
		text = rest
	}
	if class == "" || !strings.Contains(text, traceback) {
		return ""
	}
	printed, _ := raised(text)
	module, _ := strings.CutSuffix(printed, "."+class)
	if module == printed {
		return ""
	}
	return module
}

// cutCause splits the text behind the first trace of several.
func cutCause(text string) (trace, rest string, more bool) {
	direct, caught := strings.Index(text, directCause), strings.Index(text, whileCaught)
	switch {
	case direct >= 0 && (caught < 0 || direct < caught):
		return text[:direct], text[direct+len(directCause):], true
	case caught >= 0:
		return text[:caught], text[caught+len(whileCaught):], true
	default:
		return "", "", false
	}
}

// raised is the class and the message of the exception behind a trace: the first line that
// is not indented, and those that follow.
func raised(trace string) (class, message string) {
	var said strings.Builder
	for line := range strings.Lines(trace) {
		line = strings.TrimRight(line, "\r\n")
		if text := strings.TrimLeft(line, " "); strings.HasPrefix(text, "+-") { // the members of a group
			break
		} else if strings.HasPrefix(text, "| ") {
			line = text[len("| "):]
		}
		switch {
		case said.Len() > 0:
			said.WriteByte('\n')
			said.WriteString(line)
		case line == "" || line[0] == ' ' || strings.Contains(line, traceback):
		default:
			said.WriteString(line)
		}
	}
	class, message, _ = strings.Cut(strings.TrimRight(said.String(), "\n"), ": ")
	if strings.ContainsAny(class, " \t\n") {
		return "", ""
	}
	return strings.TrimSuffix(class, ":"), message
}

// ofGroup takes the marks of an exception group off a line. The own trace of a group comes
// before its members, which are left out.
func ofGroup(text string, members bool) (line string, isMember bool) {
	switch {
	case members:
		return text, strings.HasPrefix(text, "|") || strings.HasPrefix(text, "+")
	case strings.HasPrefix(text, "+-+-"):
		return text, true
	case strings.HasPrefix(text, "| "), strings.HasPrefix(text, "+ Exception Group "):
		return strings.TrimLeft(text[2:], " "), false
	default:
		return text, false
	}
}
