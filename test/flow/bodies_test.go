package flow

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Valid bodies for every receiver, with all fields that its parser reads.
const (
	nativeEvent = `{"id":"ID","time":"2026-11-21T03:18:40Z","type":"system","level":"error","message":"order 42 f\u00e4iled","template":"order %d failed",` +
		`"exception_class":"OrderError","file":"src/order.go","line":51,"request_uri":"/checkout?page=2","request_method":"POST","user_id":1204,"ip":"203.0.113.9",` +
		`"fingerprint":["a","b"],"frames":[{"file":"src/order.go","line":51,"function":"load","module":"shop","in_app":true,"args":["int"]}],"payload":{"a":[1,2.5e3,null,true]}}`
	sentryEvent = `{"level":"error","timestamp":1795231120.5,"platform":"php","release":"1","tags":[["a","b"]],` +
		`"exception":{"values":[{"type":"E","value":"v\u00e9","stacktrace":{"frames":[{"filename":"a.php","lineno":17,"in_app":true,"vars":{"x":[1,2.5e3,null]}}]}}]},` +
		`"request":{"url":"http://x.test/","query_string":{"a":["b"]},"headers":{"Host":["x"]},"env":{"REMOTE_ADDR":"192.0.2.1"}},"user":{"id":1,"ip_address":"{{auto}}"},` +
		`"logentry":{"message":"%s","params":["p"]},"fingerprint":["f"],"sdk":{"name":"n","settings":{"infer_ip":"auto"}},"contexts":{"os":{"name":"o"}},"extra":{"y":{"z":true}}}`
	sentryLog = `{"version":2,"items":[{"timestamp":1795231193.5,"level":"error","body":"payment failed","severity_number":17,"attributes":{"user":{"value":77,"type":"integer"}}}]}`
	otlpLogs  = `{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeLogs":[{"scope":{"name":"s"},"logRecords":[` +
		`{"timeUnixNano":"1795231120683975239","severityNumber":17,"body":{"stringValue":"b"},"traceId":"08a022e8b2b020683b308780d70f3cad","attributes":[` +
		`{"key":"exception.type","value":{"stringValue":"E"}},{"key":"n","value":{"intValue":"7"}},{"key":"l","value":{"arrayValue":{"values":[{"doubleValue":1.5}]}}}]}]}]}]}`
)

// eventEnvelope is an event in an envelope, with its length in the item header
// and a client report behind it.
func eventEnvelope(event string) []byte {
	return fmt.Appendf(nil, "{\"sent_at\":\"2026-11-21T03:18:40Z\"}\n{\"type\":\"event\",\"length\":%d}\n%s\n{\"type\":\"client_report\"}\n{}\n", len(event), event)
}

// itemEnvelope is an envelope of one item.
func itemEnvelope(kind, payload string) []byte {
	return fmt.Appendf(nil, "{}\n{\"type\":%q,\"length\":%d}\n%s\n", kind, len(payload), payload)
}

// controls are well-formed bodies with one event each: they show that the others
// are refused for their faults.
func controls() []attempt {
	control := func(d receiver, body []byte) attempt {
		return attempt{class: "control", name: "well-formed", receiver: d, body: body, want: taken}
	}
	return []attempt{
		control(native, []byte(nativeEvent)), control(envelope, eventEnvelope(sentryEvent)), control(store, []byte(sentryEvent)),
		control(envelope, itemEnvelope("log", sentryLog)), control(logsJSON, []byte(otlpLogs)),
	}
}

// malformed yields all attempts, class by class, so that the bodies of one class
// are garbage before the next are made.
func malformed(t *testing.T) iter.Seq[[]attempt] {
	return func(yield func([]attempt) bool) {
		for _, class := range []func(*testing.T) []attempt{
			cutBodies, wrongTypes, brokenTokens, oddNumbers, badText, deepBodies, wideBodies, largeBodies,
			cutStreams, wrongCodings, bombs,
		} {
			if !yield(class(t)) {
				return
			}
		}
	}
}

// cutBodies are bodies cut after every byte.
func cutBodies(t *testing.T) (all []attempt) {
	protobuf, err := os.ReadFile(filepath.Join(ingestDir, "otlp/testdata/otel-go-traces.pb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, whole := range []struct {
		receiver receiver
		body     []byte
	}{
		{native, []byte(nativeEvent)}, {native, []byte("[" + nativeEvent + "]")},
		{store, []byte(sentryEvent)}, {logsJSON, []byte(otlpLogs)}, {logs, protobuf},
	} {
		for n := range len(whole.body) {
			a := attempt{class: string(whole.receiver) + " cut", name: fmt.Sprint("at ", n), receiver: whole.receiver, body: whole.body[:n]}
			if n == 0 && whole.receiver == logs {
				a.want = empty // an export without records is zero bytes
			}
			all = append(all, a)
		}
	}
	return append(all, cutEnvelopes()...)
}

// cutEnvelopes are envelopes cut after every byte. An envelope that ends after
// its header has no items. One whose event is whole has that event: the last item
// needs no line break, and a broken client report is ignored.
func cutEnvelopes() (all []attempt) {
	for kind, whole := range map[string][]byte{"event": eventEnvelope(sentryEvent), "log": itemEnvelope("log", sentryLog)} {
		text := string(whole)
		header := strings.IndexByte(text, '\n')
		items := header + 1
		payload := items + strings.IndexByte(text[items:], '\n') + 1
		end := payload + map[string]int{"event": len(sentryEvent), "log": len(sentryLog)}[kind]
		for n := range whole {
			a := attempt{class: "envelope cut, " + kind, name: fmt.Sprint("at ", n), receiver: envelope, body: whole[:n]}
			report := strings.LastIndex(text, "{\"type\":\"client_report\"")
			reportEnd := strings.LastIndex(text, "}\n{}\n") + 1
			switch {
			case n == header || n == items:
				a.want = empty
			case n >= end && (report < 0 || n <= report || n >= reportEnd):
				a.want = taken
			}
			if a.want != refused {
				a.class += ", whole so far"
			}
			all = append(all, a)
		}
	}
	return all
}

// values are one JSON value of every type, and some that look like another type.
var values = []string{
	`null`, `true`, `false`, `0`, `7`, `-1`, `1.5`, `""`, `"text"`, `"7"`, `[]`, `[1]`, `["text"]`, `[null]`, `[{}]`, `[[]]`, `{}`, `{"a":1}`, `{"values":1}`, `{"values":[1]}`,
}

// wrongTypes are events with a value of every type in every field.
func wrongTypes(*testing.T) (all []attempt) {
	text := []string{`null`, `""`, `"text"`, `"7"`}
	scalar := append([]string{`0`, `7`, `-1`, `1.5`}, text...)
	for field, good := range map[string][]string{
		"id": scalar, "time": scalar, "user_id": scalar,
		"message": text, "template": text, "exception_class": text, "file": text, "request_uri": text, "request_method": text, "ip": text,
		"type": {`null`, `""`}, "level": {`null`, `""`},
		"line":        {`null`, `0`, `7`, `""`, `"7"`},
		"fingerprint": {`null`, `[]`, `[1]`, `["text"]`, `[null]`},
		"frames":      {`null`, `[]`, `[{}]`, `[1]`, `["text"]`, `[null]`, `[[]]`}, // an invalid frame is left out
		"payload":     {`null`, `{}`, `{"a":1}`, `{"values":1}`, `{"values":[1]}`},
		"release":     values, // left out
		"environment": values,
		"tags":        values,
		"unknown":     values,
	} {
		rest := `"exception_class":"Types"`
		if field == "exception_class" {
			rest = `"message":"types"`
		}
		for _, value := range values {
			a := attempt{class: "native wrong type", name: field + " is " + value, receiver: native, body: fmt.Appendf(nil, `{%s,%q:%s}`, rest, field, value)}
			for _, g := range good {
				if g == value {
					a.class, a.want = "native odd but allowed type", taken
				}
			}
			all = append(all, a)
		}
	}
	return append(append(all, sentryTypes()...), notObjects()...)
}

// sentryTypes are events of SDKs. There a value of a wrong type counts as absent,
// and the event is never lost for it.
func sentryTypes() (all []attempt) {
	for _, field := range []string{
		"event_id", "timestamp", "level", "platform", "logger", "transaction", "culprit", "server_name", "release", "environment", "type",
		"message", "logentry", "threads", "stacktrace", "tags", "request", "user", "contexts", "sdk", "fingerprint", "extra", "breadcrumbs", "modules", "dist",
	} {
		for _, value := range values {
			all = append(all, attempt{class: "store wrong type, read past", name: field + " is " + value, receiver: store, want: taken,
				body: fmt.Appendf(nil, `{"exception":[{"type":"Types"}],%q:%s}`, field, value)})
		}
	}
	for _, field := range []string{"url", "method", "query_string", "headers", "env"} {
		for _, value := range values {
			all = append(all, attempt{class: "envelope wrong type within, read past", name: "request." + field + " is " + value, receiver: envelope, want: taken,
				body: eventEnvelope(fmt.Sprintf(`{"exception":[{"type":"Types"}],"request":{%q:%s}}`, field, value))})
		}
	}
	for _, value := range values {
		all = append(all, attempt{class: "envelope wrong type within, read past", name: "exception is " + value, receiver: envelope, want: taken,
			body: eventEnvelope(fmt.Sprintf(`{"message":"types","exception":%s}`, value))})
		for _, field := range []string{"event_id", "dsn", "sent_at", "trace", "sdk"} {
			all = append(all, attempt{class: "envelope header wrong type, read past", name: field + " is " + value, receiver: envelope, want: taken,
				body: fmt.Appendf(nil, "{%q:%s}\n{\"type\":\"event\"}\n{\"message\":\"types\"}\n", field, value)})
		}
	}
	return all
}

// notObjects are bodies whose outermost value is no object.
func notObjects() (all []attempt) {
	for _, value := range values {
		if value[0] != '{' {
			all = append(all,
				attempt{class: "native not an object", name: value, receiver: native, body: []byte(value)},
				attempt{class: "native not an object", name: "an array of " + value, receiver: native, body: []byte("[" + value + "]")},
				attempt{class: "store not an object", name: value, receiver: store, body: []byte(value)},
				attempt{class: "envelope not an object", name: "event is " + value, receiver: envelope, body: eventEnvelope(value)},
				attempt{class: "envelope not an object", name: "log is " + value, receiver: envelope, body: itemEnvelope("log", value)},
				attempt{class: "envelope not an object", name: "header is " + value, receiver: envelope, body: []byte(value + "\n")},
				attempt{class: "envelope not an object", name: "item header is " + value, receiver: envelope, body: []byte("{}\n" + value + "\n{}\n")},
				attempt{class: "OTLP not an object", name: value, receiver: logsJSON, body: []byte(value)},
			)
		}
	}
	return all
}
