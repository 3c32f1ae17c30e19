package legacy

import (
	"strconv"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/stacktrace"
)

// labels are PHP's names for its error types, as they stand in its log.
var labels = [...]struct {
	name  string
	level errata.Level
}{
	{"Warning", errata.LevelWarning},
	{"Notice", errata.LevelNotice},
	{"Deprecated", errata.LevelNotice},
	{"Fatal error", errata.LevelFatal},
	{"Parse error", errata.LevelFatal},
	{"Recoverable fatal error", errata.LevelFatal},
	{"Catchable fatal error", errata.LevelFatal},
	{"Strict Standards", errata.LevelNotice},
	{"Unknown error", errata.LevelError},
}

const (
	labelPrefix = "PHP "
	// maxLabel is how many bytes of a line cutLabel needs.
	maxLabel = 32
)

// cutLabel splits "PHP Warning:  text" into the index of the label and the text.
// "PHP " may be missing, as in the errors that PHP displays.
func cutLabel(text string) (label int, rest string, ok bool) {
	text = strings.TrimPrefix(text, labelPrefix)
	for i := range labels {
		name := labels[i].name
		if len(text) > len(name) && text[0] == name[0] && text[len(name)] == ':' && text[:len(name)] == name {
			return i, strings.TrimLeft(text[len(name)+1:], " "), true
		}
	}
	return 0, text, false
}

// parsePHP reads the text behind the time in a log of PHP: an error of PHP, an
// uncaught exception, or a text that the application gave to error_log().
func parsePHP(text string, d *ingest.Draft) {
	label, text, labelled := cutLabel(text)
	if labelled {
		d.Level = labels[label].level
		text, d.File, d.Line = cutPlace(text)
		if thrown, ok := strings.CutPrefix(text, "Uncaught "); ok {
			parseThrown(strings.TrimSuffix(thrown, "\n  thrown"), d)
			return
		}
		d.Class = labelPrefix + labels[label].name
		d.Message = text
		return
	}
	if strings.Contains(text, traceMark) { // error_log($exception)
		parseThrown(text, d)
		return
	}
	d.Message = text
	// A line of php-fpm: "WARNING: [pool www] …".
	if word, rest, ok := strings.Cut(text, ": "); ok && word == strings.ToUpper(word) {
		if level, ok := errata.ParseLevel(word); ok {
			d.Level, d.Message = level, rest
		}
	}
}

// cutPlace cuts " in /path/file.php on line 12" off the end.
func cutPlace(text string) (rest, file string, line int64) {
	before, number, ok := cutLast(text, " on line ")
	if !ok {
		return text, "", 0
	}
	// Lines of Xdebug may stand behind the number.
	number, _, _ = strings.Cut(number, "\n")
	line, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return text, "", 0
	}
	if rest, file, ok = cutLast(before, " in "); ok {
		return rest, file, line
	}
	return text, "", 0
}

const (
	traceMark = "\nStack trace:\n"
	nextMark  = "\n\nNext "
)

// parseThrown reads an exception as PHP prints it: the causes first, each with
// its trace, and the one that was thrown last.
func parseThrown(text string, d *ingest.Draft) {
	for len(d.Context.Exceptions) < ingest.MaxExceptions {
		link, rest, more := strings.Cut(text, nextMark)
		if more && len(d.Context.Exceptions) == ingest.MaxExceptions-1 {
			_, link, _ = cutLast(text, nextMark) // the thrown one matters more than its causes
			more = false
		}
		x, file, line := parseLink(link)
		d.Context.Exceptions = append(d.Context.Exceptions, x)
		if file != "" {
			d.File, d.Line = file, line
		}
		if !more {
			break
		}
		text = rest
	}
	thrown := &d.Context.Exceptions[len(d.Context.Exceptions)-1]
	d.Class, d.Message = thrown.Class, thrown.Message
}

// parseLink reads "Class: message in /path/file.php:12" and the trace below it.
func parseLink(text string) (x ingest.Exception, file string, line int64) {
	head, trace, _ := strings.Cut(text, traceMark)
	if before, place, ok := cutLast(head, " in "); ok {
		if at, number, ok := cutLast(place, ":"); ok {
			if n, err := strconv.ParseInt(number, 10, 64); err == nil {
				head, file, line = before, at, n
			}
		}
	}
	x.Class, x.Message = cutClass(head)
	if trace == "" {
		return x, file, line
	}
	if file != "" {
		trace = "thrown in " + file + ":" + strconv.FormatInt(line, 10) + "\n" + trace
	}
	x.Frames, _ = stacktrace.Parse(trace)
	return x, file, line
}

// cutClass splits "Class: message"; a text that does not begin with the name
// of a class is all message.
func cutClass(head string) (class, message string) {
	class, message, ok := strings.Cut(head, ": ")
	if !ok {
		class, message = strings.TrimSuffix(head, ":"), ""
	}
	if !isClass(class) {
		return "", head
	}
	return class, message
}

// isClass says whether the text can be the name of a PHP class. The name of an
// anonymous class ends in a NUL and the place of its declaration.
func isClass(text string) bool {
	text, _, _ = strings.Cut(text, "\x00")
	for i := range len(text) {
		c := text[i]
		if !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '\\' || c == '@' || c >= 0x80) {
			return false
		}
	}
	return text != ""
}

// cutLast is strings.Cut at the last occurrence.
func cutLast(text, sep string) (before, after string, found bool) {
	at := strings.LastIndex(text, sep)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(sep):], true
}
