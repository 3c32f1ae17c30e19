package flow

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
)

// inEveryReceiver puts a JSON value into an event of each receiver that reads
// JSON.
func inEveryReceiver(class, name, value string, want map[receiver]outcome) (all []attempt) {
	for d, body := range map[receiver][]byte{
		native:   fmt.Appendf(nil, `{"message":"m","payload":{"v":%s}}`, value),
		store:    fmt.Appendf(nil, `{"message":"m","extra":{"v":%s}}`, value),
		envelope: eventEnvelope(fmt.Sprintf(`{"message":"m","extra":{"v":%s}}`, value)),
		logsJSON: fmt.Appendf(nil, `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"severityNumber":17,"body":{"stringValue":"m"},"unknown":%s}]}]}]}`, value),
	} {
		all = append(all, attempt{class: class, name: name, receiver: d, body: body, want: want[d]})
	}
	return all
}

// brokenTokens are values that are not JSON.
func brokenTokens(*testing.T) (all []attempt) {
	for _, token := range []string{
		`NaN`, `-NaN`, `Infinity`, `-Infinity`, `nan`, `inf`, `undefined`, `None`, `True`, `nul`, `tru`, `fals`, `01`, `-01`, `+1`, `1.`, `.5`, `-`, `1e`, `1e+`, `1.e5`,
		`0x10`, `1_000`, `'text'`, `text`, `"open`, `"\x41"`, `"\u12"`, `"\u12G4"`, `"\"`, "\"tab\tin\"", "\"nul\x00\"", `{`, `[`, `{]`, `[}`, `[1,]`, `[,1]`, `[1 2]`,
		`{"a":1,}`, `{"a"}`, `{"a":}`, `{:1}`, `{a:1}`, `{1:2}`, `{"a":1 "b":2}`, `{"a"::1}`, `"a" "b"`, `/* c */ 1`, "\xff\xfe", "\xef\xbb\xbf1", "\x00", `1,`, `]`, `}`, `:`, `,`, ``,
	} {
		all = append(all, inEveryReceiver("not JSON", fmt.Sprintf("%q", token), token, nil)...)
	}
	return all
}

// oddNumbers are JSON numbers that fit into no machine type.
func oddNumbers(*testing.T) (all []attempt) {
	fields := map[string]outcome{"line": refused, "user_id": taken, "time": taken, "id": taken}
	for _, number := range []string{`1e400`, `-1e400`, `1e-400`, `99999999999999999999`, `-9223372036854775809`, `1e20`, strings.Repeat("9", 400)} {
		for field, want := range fields {
			if field == "id" && len(number) > 64 {
				want = refused
			}
			all = append(all, attempt{class: "native number out of range", name: field + " is " + number, receiver: native, want: want,
				body: fmt.Appendf(nil, `{"exception_class":"Numbers",%q:%s}`, field, number)})
		}
		for _, event := range []string{`"timestamp":%s`, `"user":{"id":%s}`, `"level":%s`, `"exception":{"values":[{"type":"N","stacktrace":{"frames":[{"lineno":%s}]}}]}`} {
			all = append(all, attempt{class: "store number out of range, read past", name: event + " " + number, receiver: store, want: taken,
				body: []byte(`{"message":"numbers",` + fmt.Sprintf(event, number) + `}`)})
		}
		for _, length := range []string{number, `"` + number + `"`} {
			all = append(all, attempt{class: "envelope length", name: length, receiver: envelope,
				body: []byte("{}\n{\"type\":\"event\",\"length\":" + length + "}\n{\"message\":\"m\"}\n")})
		}
	}
	// The payload has 15 bytes, 16 with its line break. A length below zero does
	// not count: then the line is the payload.
	for length, want := range map[string]outcome{
		`-1`: taken, `-9223372036854775808`: taken, `16`: taken, `9223372036854775807`: refused, `1`: refused, `14`: refused, `17`: refused, `1048577`: refused,
	} {
		a := attempt{class: "envelope length", name: length, receiver: envelope, want: want,
			body: []byte("{}\n{\"type\":\"event\",\"length\":" + length + "}\n{\"message\":\"m\"}\n")}
		if want == taken {
			a.class += ", read past"
		}
		all = append(all, a)
	}
	return all
}

// badText is text that is not UTF-8. It is repaired within a string, because an
// error matters more than its spelling, and log and records hold UTF-8 only. A
// body in another encoding is not JSON.
func badText(*testing.T) (all []attempt) {
	const class = "not UTF-8 in a string, repaired"
	for name, text := range map[string]string{
		"a lone byte": "\xff", "a cut sequence": "\xe2\x82", "overlong": "\xc0\xaf", "a surrogate": "\xed\xa0\x80", "beyond Unicode": "\xf5\x80\x80\x80", "Latin-1": "Fehler f\xfcr",
	} {
		all = append(all,
			attempt{class: class, name: "message, " + name, receiver: native, want: taken, body: fmt.Appendf(nil, `{"message":"a%sb"}`, text)},
			attempt{class: class, name: "key, " + name, receiver: native, want: taken, body: fmt.Appendf(nil, `{"message":"m","payload":{"a%sb":1}}`, text)},
			attempt{class: class, name: "message, " + name, receiver: store, want: taken, body: fmt.Appendf(nil, `{"message":"a%sb"}`, text)},
			attempt{class: class, name: "extra, " + name, receiver: envelope, want: taken, body: eventEnvelope(fmt.Sprintf(`{"message":"m","extra":{"a":"%s"}}`, text))},
			attempt{class: class, name: "header, " + name, receiver: envelope, want: empty, body: fmt.Appendf(nil, "{\"dsn\":\"%s\"}\n", text)},
			attempt{class: class, name: "body, " + name, receiver: logsJSON, want: taken, body: []byte(strings.Replace(otlpLogs, `"b"`, `"`+text+`"`, 1))},
		)
	}
	everywhere := map[receiver]outcome{native: taken, store: taken, envelope: taken, logsJSON: taken}
	for _, escape := range []string{`\ud800`, `\udc00`, `\ud800\u0041`, `\udfff\ud800`} {
		all = append(all, inEveryReceiver("half a surrogate pair, repaired", escape, `"`+escape+`"`, everywhere)...)
	}
	for d, body := range map[receiver]string{native: nativeEvent, store: sentryEvent, envelope: string(eventEnvelope(sentryEvent)), logsJSON: otlpLogs} {
		for name, wide := range map[string][]byte{"UTF-16": utf16Of(body, false), "UTF-16 with its mark": utf16Of(body, true)} {
			all = append(all, attempt{class: "UTF-16", name: name, receiver: d, body: wide})
		}
	}
	return all
}

func utf16Of(text string, mark bool) (out []byte) {
	if mark {
		text = "\ufeff" + text
	}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return out
}

// deepBodies are nested. A native event may have 64 levels. SDKs may nest deeper
// in fields that are not kept, down to 10,000 levels.
func deepBodies(*testing.T) (all []attempt) {
	shapes := map[string]struct{ open, close string }{"lists": {"[", "]"}, "objects": {`{"a":`, "}"}, "both": {`[{"a":`, "}]"}}
	for name, shape := range shapes {
		levels := strings.Count(shape.open, "[") + strings.Count(shape.open, "{")
		for _, depth := range []int{65, 10_001, 500_000} {
			n := (depth + levels - 1) / levels
			deep := strings.Repeat(shape.open, n) + "0" + strings.Repeat(shape.close, n)
			want := map[receiver]outcome{}
			if depth == 65 {
				want = map[receiver]outcome{store: taken, envelope: taken, logsJSON: taken}
			}
			all = append(all, inEveryReceiver(fmt.Sprintf("%d levels", depth), name, deep, want)...)
			all = append(all, inEveryReceiver(fmt.Sprintf("%d levels, open", depth), name, strings.Repeat(shape.open, n), nil)...)
		}
	}
	for _, depth := range []int{65, 10_001, 500_000} {
		open, closed := strings.Repeat("[", depth), strings.Repeat("]", depth)
		value := strings.Repeat(`{"arrayValue":{"values":[`, depth) + strings.Repeat(`]}}`, depth)
		want, wantHeader := refused, refused
		if depth == 65 {
			want, wantHeader = taken, empty
		}
		all = append(all,
			attempt{class: fmt.Sprintf("%d levels", depth), name: "the envelope's header", receiver: envelope, body: []byte(`{"a":` + open + closed + "}\n"), want: wantHeader},
			attempt{class: fmt.Sprintf("%d levels", depth), name: "an item's header", receiver: envelope, body: []byte("{}\n{\"a\":" + open + closed + "}\n\n"), want: wantHeader},
			attempt{class: fmt.Sprintf("%d levels", depth), name: "an exception", receiver: store, body: []byte(`{"message":"m","exception":` + open + closed + "}"), want: want},
			attempt{class: fmt.Sprintf("%d levels", depth), name: "a log", receiver: envelope, body: itemEnvelope("log", `{"items":[{"level":"error","body":"m","attributes":{"a":`+open+closed+`}}]}`), want: want},
			attempt{class: fmt.Sprintf("%d levels", depth), name: "the native event itself", receiver: native, body: []byte(open + closed)},
			attempt{class: fmt.Sprintf("%d levels", depth), name: "values in the body of a log", receiver: logsJSON, want: want,
				body: []byte(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"severityNumber":17,"body":` + value + `}]}]}]}`)},
		)
	}
	return all
}

// wideBodies have more of everything than anybody needs.
func wideBodies(*testing.T) (all []attempt) {
	var keys strings.Builder
	for i := range 20_001 {
		fmt.Fprintf(&keys, `"k%d":0,`, i)
	}
	for name, value := range map[string]string{
		"20,001 keys": "{" + keys.String() + `"z":0}`, "300,000 objects": "[" + strings.Repeat("{},", 300_000) + "0]", "300,000 zeros": "[" + strings.Repeat("0,", 300_000) + "0]",
	} {
		all = append(all, inEveryReceiver("wide", name, value, map[receiver]outcome{store: taken, envelope: taken, logsJSON: taken})...)
	}
	for name, event := range map[string]string{
		"20,001 tags": `"tags":{` + strings.Repeat(`"k":"v",`, 20_001) + `"z":"v"}`, "60,000 frames": `"stacktrace":{"frames":[` + strings.Repeat(`{"lineno":1},`, 60_000) + `{}]}`,
		"70,000 exceptions": `"exception":[` + strings.Repeat(`{"type":"E"},`, 70_000) + `{"type":"E"}]`, "90,000 times the same key": strings.Repeat(`"level":"f",`, 80_000) + `"level":"error"`,
	} {
		all = append(all, attempt{class: "wide, read past", name: name, receiver: store, body: []byte(`{"message":"wide",` + event + `}`), want: taken})
	}
	small := `{"message":"m"}`
	return append(all,
		attempt{class: "too many events", name: "1,001 lines", receiver: native, body: []byte(strings.Repeat(small+"\n", 1001))},
		attempt{class: "too many events", name: "an array of 1,001", receiver: native, body: []byte("[" + strings.Repeat(small+",", 1000) + small + "]")},
		attempt{class: "too many events", name: "101 items", receiver: envelope, body: []byte("{}\n" + strings.Repeat("{\"type\":\"event\"}\n"+small+"\n", 101))},
		attempt{class: "too many events", name: "1,001 logs", receiver: envelope, body: itemEnvelope("log", `{"items":[`+strings.Repeat(`{"level":"error","body":"m"},`, 1000)+`{"level":"error","body":"m"}]}`)},
	)
}

// largeBodies are over a size limit.
func largeBodies(*testing.T) []attempt {
	const mib = 1 << 20
	text := strings.Repeat("a", mib)
	return []attempt{
		{class: "too large", name: "an event over 1 MiB", receiver: native, body: []byte(`{"message":"` + text + `"}`)},
		{class: "too large", name: "an event over 1 MiB", receiver: store, body: []byte(`{"message":"` + text + `"}`)},
		{class: "too large", name: "an event over 1 MiB", receiver: envelope, body: eventEnvelope(`{"message":"` + text + `"}`)},
		{class: "too large", name: "an event over 1 MiB without a length", receiver: envelope, body: []byte("{}\n{\"type\":\"event\"}\n{\"message\":\"" + text + "\"}\n")},
		{class: "too large", name: "a log item over 2 MiB", receiver: envelope, body: itemEnvelope("log", `{"items":["`+text+text+`"]}`)},
		{class: "too large", name: "a client report over 100 KiB", receiver: envelope, body: itemEnvelope("client_report", `{"a":"`+text[:101<<10]+`"}`)},
		{class: "too large", name: "a header over 8 KiB", receiver: envelope, body: []byte(`{"a":"` + text[:9<<10] + "\"}\n")},
		{class: "too large", name: "an item header over 8 KiB", receiver: envelope, body: []byte("{}\n{\"a\":\"" + text[:9<<10] + "\"}\n")},
		{class: "too large", name: "over 20 MiB", receiver: native, body: []byte(strings.Repeat(text, 21))},
		{class: "too large", name: "over 20 MiB", receiver: envelope, body: []byte("{}\n{\"type\":\"attachment\"}\n" + strings.Repeat(text, 21))},
		{class: "too large", name: "over 20 MiB", receiver: logs, body: []byte(strings.Repeat(text, 21))},
		{class: "large but skipped", name: "an attachment of 19 MiB", receiver: envelope, body: itemEnvelope("attachment", strings.Repeat(text, 19)), want: empty},
	}
}
