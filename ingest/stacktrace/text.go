package stacktrace

import (
	"slices"
	"strconv"
	"strings"

	"github.com/errata-log/errata/ingest"
)

// Parse reads the text of a stack trace into frames, oldest call first, and
// the place of the error. Of a chain it reads only the trace of the error that was
// thrown. It returns no frames for an unknown format.
func Parse(text string) ([]ingest.Frame, Place) {
	var s scanner
	for line := range strings.Lines(text) {
		if !s.line(strings.TrimRight(line, "\r\n")) {
			break
		}
	}
	frames := s.trace.Frames()
	if !s.oldestFirst {
		slices.Reverse(frames)
	}
	var again Trace
	for _, f := range frames {
		again.Add(f)
	}
	return frames, again.Place()
}

// scanner reads a trace line by line.
type scanner struct {
	trace       Trace
	oldestFirst bool   // as Python prints them
	function    string // Go prints the function on a line of its own
	members     bool   // the members of one of Python's exception groups follow
}

// line reads one line. It returns false if the rest of the text is not needed.
func (s *scanner) line(line string) bool {
	text := strings.TrimLeft(line, " \t")
	function := s.function
	s.function = ""
	if text, s.members = ofGroup(text, s.members); s.members {
		return true
	}
	switch {
	case text == "":
	case strings.HasPrefix(text, "Caused by:"): // Java: the causes follow
		return s.trace.Seen() == 0
	case strings.HasPrefix(text, traceback), strings.HasPrefix(text, "Exception Group "+traceback):
		s.trace.Clear() // Python: the thrown one comes last
		s.oldestFirst = true
	case strings.HasPrefix(text, `File "`):
		s.python(text)
	case strings.HasPrefix(text, "at "):
		s.at(text[len("at "):])
	case text[0] == '#':
		s.php(text)
	case function != "" && len(text) < len(line) && strings.Contains(text, ".go:"):
		s.golang(function, text)
	case strings.Contains(text, ".rb:"):
		s.ruby(text)
	case strings.Contains(text, ".php:"):
		s.phpThrown(text)
	default:
		s.function = line
	}
	return true
}

// golang reads "pkg.(*T).Method(0x1, …)" and "	/path/file.go:12 +0x1f".
func (s *scanner) golang(function, position string) {
	position, _, _ = strings.Cut(position, " ")
	file, line, ok := splitPosition(position)
	if !ok {
		return
	}
	function, _ = strings.CutPrefix(function, "created by ")
	function, _, _ = strings.Cut(function, " in goroutine ")
	if args := strings.LastIndexByte(function, '('); args > 0 && strings.HasSuffix(function, ")") {
		function = function[:args]
	}
	if function == "panic" {
		function = "runtime.panic" // Go prints it without its package
	}
	module := packageOf(function)
	s.trace.Add(ingest.Frame{
		File: file, Line: line, Function: strings.TrimPrefix(function[len(module):], "."), Module: module,
		InApp: !GoLibrary(file, module) && !contains(file, "/usr/local/go/", "/usr/lib/go", "/libexec/src/", "/toolcache/go/") &&
			!contains(function, "go.opentelemetry.io/otel"),
	})
}

// at reads the text behind "at " as V8, Java and .NET print it.
func (s *scanner) at(text string) {
	if function, position, ok := strings.Cut(text, " in "); ok {
		if file, number, ok := strings.Cut(position, ":line "); ok {
			s.dotnet(function, file, number)
			return
		}
	}
	open := strings.LastIndexByte(text, '(')
	if open < 0 || !strings.HasSuffix(text, ")") {
		s.v8("", strings.TrimPrefix(text, "async "))
		return
	}
	inside := text[open+1 : len(text)-1]
	if open > 0 && text[open-1] == ' ' {
		s.v8(strings.TrimSpace(text[:open]), inside)
		return
	}
	s.java(text[:open], inside)
}

// v8 reads "function (file:line:column)" and "file:line:column".
func (s *scanner) v8(function, position string) {
	file, line, ok := splitPosition(position)
	if !ok {
		return
	}
	function = strings.TrimPrefix(function, "async ")
	s.trace.Add(ingest.Frame{
		File: file, Line: line, Function: function,
		InApp: !contains(file, "node:", "/node_modules/", "<anonymous>") && !strings.HasPrefix(file, "internal/"),
	})
}

// java reads "package.Class.method" and "File.java:12". The file gets the package as
// its folder, because files of several packages have the same name.
func (s *scanner) java(function, position string) {
	file, line, ok := splitPosition(position)
	if !ok {
		return // native methods and unknown sources have no place
	}
	if slash := strings.LastIndexByte(function, '/'); slash >= 0 {
		function = function[slash+1:] // the module or loader: java.base/
	}
	module, method := "", function
	if dot := strings.LastIndexByte(function, '.'); dot >= 0 {
		module, method = function[:dot], function[dot+1:]
	}
	if dot := strings.LastIndexByte(module, '.'); dot >= 0 {
		file = strings.ReplaceAll(module[:dot], ".", "/") + "/" + file
	}
	s.trace.Add(ingest.Frame{
		File: file, Line: line, Function: method, Module: module,
		InApp: !hasPrefix(module, "java.", "javax.", "jakarta.", "jdk.", "sun.", "com.sun.", "kotlin.", "kotlinx.", "scala.",
			"org.springframework.", "org.apache.", "org.hibernate.", "io.netty.", "io.opentelemetry."),
	})
}

// dotnet reads "Class.Method(...)", the file and the number of the line.
func (s *scanner) dotnet(function, file, number string) {
	line, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return
	}
	function, _, _ = strings.Cut(function, "(")
	s.trace.Add(ingest.Frame{
		File: file, Line: line, Function: function,
		InApp: !hasPrefix(function, "System.", "Microsoft.", "OpenTelemetry."),
	})
}

// python reads `File "path", line 12, in function`.
func (s *scanner) python(text string) {
	file, rest, ok := strings.Cut(text[len(`File "`):], `", line `)
	if !ok {
		return
	}
	number, function, _ := strings.Cut(rest, ", in ")
	line, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return
	}
	s.oldestFirst = true
	s.trace.Add(ingest.Frame{
		File: file, Line: line, Function: function,
		InApp: !contains(file, "/site-packages/", "/dist-packages/", "/lib/python", `\lib\python`) && !strings.HasPrefix(file, "<"),
	})
}

// php reads "#0 /path/file.php(12): Class->method()".
func (s *scanner) php(text string) {
	_, text, _ = strings.Cut(text, " ")
	position, call, ok := strings.Cut(text, "): ")
	if !ok {
		return // {main} and [internal function] have no place
	}
	open := strings.LastIndexByte(position, '(')
	if open < 0 {
		return
	}
	line, err := strconv.ParseInt(position[open+1:], 10, 64)
	if err != nil {
		return
	}
	call, _, _ = strings.Cut(call, "(")
	s.trace.Add(ingest.Frame{File: position[:open], Line: line, Function: call, InApp: !contains(position, "/vendor/")})
}

// phpThrown reads the head line "Exception: message in /path/file.php:12".
func (s *scanner) phpThrown(text string) {
	in := strings.LastIndex(text, " in ")
	if in < 0 || s.trace.Seen() > 0 {
		return
	}
	if file, line, ok := splitPosition(text[in+len(" in "):]); ok {
		s.trace.Add(ingest.Frame{File: file, Line: line, InApp: !contains(file, "/vendor/")})
	}
}

// ruby reads "/path/file.rb:12:in 'method'".
func (s *scanner) ruby(text string) {
	position, function, ok := strings.Cut(strings.TrimPrefix(text, "from "), ":in ")
	if !ok {
		return
	}
	file, line, ok := splitPosition(position)
	if !ok {
		return
	}
	function, _, _ = strings.Cut(function, ": ") // in the head line the message follows
	s.trace.Add(ingest.Frame{
		File: file, Line: line, Function: strings.Trim(function, "`'"),
		InApp: !contains(file, "/gems/", "/lib/ruby/", "<internal:"),
	})
}

// splitPosition splits "file:line" and "file:line:column".
func splitPosition(text string) (file string, line int64, ok bool) {
	file, line, ok = cutNumber(text)
	if !ok {
		return "", 0, false
	}
	if shorter, before, twice := cutNumber(file); twice {
		return shorter, before, true
	}
	return file, line, true
}

func cutNumber(text string) (before string, number int64, ok bool) {
	colon := strings.LastIndexByte(text, ':')
	if colon <= 0 {
		return "", 0, false
	}
	n, err := strconv.ParseUint(text[colon+1:], 10, 31)
	return text[:colon], int64(n), err == nil
}

func contains(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(text, p) })
}

func hasPrefix(text string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(text, p) })
}
