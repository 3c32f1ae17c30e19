package legacy

import (
	"strings"

	"github.com/go-faster/jx"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/lenient"
	"github.com/errata-log/errata/ingest/stacktrace"
)

// maxChannel bounds the name of a Monolog channel.
const maxChannel = 64

// cutChannel splits "app.ERROR: message". The channel may contain points.
func cutChannel(text string) (channel string, level errata.Level, message string, ok bool) {
	head, message, ok := strings.Cut(text, ": ")
	if !ok {
		head, message = strings.TrimSuffix(text, ":"), ""
	}
	point := strings.LastIndexByte(head, '.')
	if point <= 0 || len(head) > maxChannel+len(".EMERGENCY") || strings.ContainsAny(head, " \t\n") {
		return "", 0, "", false
	}
	name := head[point+1:]
	if name != strings.ToUpper(name) {
		return "", 0, "", false
	}
	level, ok = errata.ParseLevel(name)
	return head[:point], level, message, ok
}

// parseMonolog reads the text behind the channel: a message, the context as JSON,
// and the data of processors as JSON. In Laravel's context, the text of an
// exception has line breaks, so that it is no valid JSON.
func parseMonolog(text string, d *ingest.Draft) {
	if message, context, exception, ok := cutObject(text); ok {
		d.Message = message
		readContext([]byte(context), d)
		parseObject(exception, d)
		return
	}
	at := contextOf(text)
	d.Message = strings.TrimRight(text[:at], " ")
	context := strings.TrimLeft(text[at:], " ")
	if !strings.HasPrefix(context, `{"`) {
		return
	}
	dec := lenient.Read([]byte(context))
	raw, err := dec.Raw()
	if err != nil {
		return
	}
	readContext(raw, d)
}

// tries bounds the places at which a context is looked for, so that a message full of
// brackets costs no more than another.
const tries = 8

// cutObject splits a text whose context has an exception as Laravel writes it. context is
// an object of what stands before the exception: Laravel puts "userId" there.
func cutObject(text string) (message, context, exception string, ok bool) {
	at := strings.Index(text, `"exception":"[object] (`)
	if at < 0 {
		return "", "", "", false
	}
	from := 0
	for range tries {
		begin := strings.Index(text[from:at], ` {`)
		if begin < 0 {
			return "", "", "", false
		}
		begin += from
		context = strings.TrimSuffix(strings.TrimSpace(text[begin:at]), ",") + "}"
		if isJSONTail(context) {
			return text[:begin], context, text[at:], true
		}
		from = begin + 1
	}
	return "", "", "", false
}

// contextOf finds where the context begins: at the first JSON that has only JSON
// behind it.
func contextOf(text string) int {
	from := 0
	for range tries {
		object, array := strings.Index(text[from:], ` {"`), strings.Index(text[from:], " []")
		at := object
		if at < 0 || array >= 0 && array < object {
			at = array
		}
		if at < 0 {
			return len(text)
		}
		if isJSONTail(text[from+at:]) {
			return from + at
		}
		from += at + 1
	}
	return len(text)
}

// isJSONTail says that the text is one or two objects or arrays.
func isJSONTail(text string) bool {
	dec := lenient.Read([]byte(text))
	values := 0
	for values < 2 {
		if t := dec.Next(); t != jx.Object && t != jx.Array {
			break
		}
		if dec.Skip() != nil {
			return false
		}
		values++
	}
	return values > 0 && dec.AtEnd()
}

// unescape decodes JSON's escapes in a text that is no valid JSON.
var unescape = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\"`, `"`, `\/`, `/`)

// parseObject reads Laravel's "[object] (Class(code: 0): message at file:12)"
// and the trace between "[stacktrace]" and the end.
func parseObject(text string, d *ingest.Draft) {
	text = unescape.Replace(text)
	_, text, _ = strings.Cut(text, "[object] (")
	text, _, _ = strings.Cut(text, "[previous exception]")
	head, trace, _ := strings.Cut(text, "[stacktrace]")
	var x ingest.Exception
	class, rest, ok := strings.Cut(head, "(code: ")
	if !ok || !isClass(class) {
		return
	}
	x.Class = class
	_, rest, _ = strings.Cut(rest, "): ")
	rest = strings.TrimRight(rest, " )\n\r\"}]")
	if message, place, ok := cutLast(rest, " at "); ok {
		rest = message
		d.File, d.Line = splitPlace(place)
	}
	x.Message = rest
	x.Frames, _ = stacktrace.Parse(trace)
	d.Class = x.Class
	d.Context.Exceptions = []ingest.Exception{x}
}
