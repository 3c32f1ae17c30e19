package ingest_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/scrub"
	"github.com/errata-log/errata/projects"
)

// secret is a value that the rules find in any text.
const secret = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"

// TestNoSecretReachesTheLog puts a token into every text of a draft. It finds the
// texts by reflection, so that no new field is forgotten.
func TestNoSecretReachesTheLog(t *testing.T) {
	planted := 0
	for _, text := range []string{secret, "before " + secret + " after", "k=v&token=" + secret, "Bearer " + secret, "pass\x00word=" + secret, strings.Repeat("x ", 5000) + secret} {
		// An extra that is no object is dropped, so the token is put into an object.
		extra, err := json.Marshal(map[string]any{"a": []any{text}, text: 1})
		if err != nil {
			t.Fatal(err)
		}
		vars, err := json.Marshal(map[string]any{"a": text, "b": []any{text}, text: 1})
		if err != nil {
			t.Fatal(err)
		}
		d := ingest.Draft{Context: ingest.Context{
			Exceptions: []ingest.Exception{{Frames: []ingest.Frame{{Args: []string{""}, InApp: true, Around: &ingest.Around{
				Before: []string{""}, After: []string{""}, Vars: json.RawMessage(vars),
			}}}}},
			Contexts: &ingest.Shared{Raw: extra}, Breadcrumbs: []ingest.Breadcrumb{{Data: extra}},
			Headers: []ingest.Pair{{Key: "User-Agent"}, {Key: "Referer"}, {Key: "X-Request-Id"}, {Key: "Cookie"}},
			Tags:    []ingest.Pair{{}},
		}}
		plant(reflect.ValueOf(&d).Elem(), text, &planted)
		for i, name := range []string{"User-Agent", "Referer", "X-Request-Id", "Cookie"} {
			d.Context.Headers[i].Key = name
		}
		d.Class, d.Context.Exceptions[0].Class = "E", "E" // classes are not scrubbed
		d.Context.Extra = extra
		d.Context.Exceptions[0].Frames[0].InApp = true
		e := eventOf(t, d)
		trail, err := json.Marshal(e.Trail)
		if err != nil {
			t.Fatal(err)
		}
		withValues := eventUnder(t, d, projects.Context{Vars: projects.VarsValues})
		for name, field := range map[string]string{"file": e.File, "message": e.Message, "class": e.Class, "uri": e.URI, "method": e.Method, "payload": string(e.Payload),
			"environment": e.Environment, "release": e.Release, "trail": string(trail), "payload with values": string(withValues.Payload)} {
			if strings.Contains(field, secret[:20]) {
				t.Errorf("%.30q: %s holds it: %s", text, name, field)
			}
		}
	}
	if planted < 6*30 {
		t.Errorf("only %d texts were planted", planted)
	}
}

// plant sets every string in v.
func plant(v reflect.Value, text string, count *int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
		*count++
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				plant(v.Field(i), text, count)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			plant(v.Elem(), text, count)
		}
	case reflect.Slice:
		for i := range v.Len() {
			plant(v.Index(i), text, count)
		}
	}
}

// TestDeploymentIsThatOfThePayload: environment and release of an event are what
// its payload says, so that an older log and a newer one are read alike.
func TestDeploymentIsThatOfThePayload(t *testing.T) {
	for _, text := range []string{"", "production", " a\tb\n", "\u202etxt\x00", strings.Repeat("é", 300), "shop@1.4.2+token=abcdefghijkl"} {
		e := eventOf(t, ingest.Draft{Message: "m", Context: ingest.Context{Environment: text, Release: "r" + text}})
		var payload struct{ Environment, Release string }
		if err := json.Unmarshal(e.Payload, &payload); err != nil {
			t.Fatal(err)
		}
		if payload.Environment != e.Environment || payload.Release != e.Release {
			t.Errorf("%q: the event has %q %q, its payload %q %q", text, e.Environment, e.Release, payload.Environment, payload.Release)
		}
		if len(e.Environment) > ingest.MaxName || len(e.Release) > ingest.MaxName || (e.Environment == "") != (text == "") {
			t.Errorf("%q became %q", text, e.Environment)
		}
	}
}

// TestASecretIsNotCutInHalf puts secrets across each limit: no part of them may be
// left after the cut.
func TestASecretIsNotCutInHalf(t *testing.T) {
	for at := ingest.MaxMessage - 60; at < ingest.MaxMessage+600; at += 7 {
		e := eventOf(t, ingest.Draft{Message: strings.Repeat("x", at-1) + " AKIAIOSFODNN7EXAMPLE and more " + strings.Repeat("y", 2000)})
		if strings.Contains(string(e.Payload), "AKIA") {
			t.Fatalf("at %d: %.100s", at, e.Payload[strings.Index(string(e.Payload), "AKIA"):])
		}
	}
}

// TestPayloadNeverExceedsItsLimit fills every part with the bytes whose escapes are
// longest.
func TestPayloadNeverExceedsItsLimit(t *testing.T) {
	worst := strings.Repeat("\"\\", 100_000)
	frame := ingest.Frame{File: worst, Line: 1 << 40, Function: worst, Module: worst, Args: []string{"string(1)", "object(" + strings.Repeat(`\`, 100) + ")"}}
	d := ingest.Draft{ClientID: worst, Message: worst, UserID: worst, Context: ingest.Context{
		Source: worst, Release: worst, Environment: worst, ServerName: worst, Platform: worst, SDK: worst, Runtime: worst, OS: worst,
		TraceID: worst, SpanID: worst, Transaction: worst, Logger: worst,
		Headers: []ingest.Pair{{Key: "User-Agent", Value: worst}, {Key: "Referer", Value: "/" + worst}, {Key: "Host", Value: worst}},
	}}
	for i := range 300 {
		d.Context.Tags = append(d.Context.Tags, ingest.Pair{Key: fmt.Sprint(i, worst), Value: worst})
	}
	for range 50 {
		x := ingest.Exception{Class: worst, Message: worst, Module: worst}
		for range 200 {
			x.Frames = append(x.Frames, frame)
		}
		d.Context.Exceptions = append(d.Context.Exceptions, x)
	}
	e := eventOf(t, d)
	if len(e.Payload) > ingest.MaxPayload {
		t.Errorf("%d bytes", len(e.Payload))
	}
	payload := payloadOf(t, e)
	if got, want := fmt.Sprint(payload["truncated"]), "[message exceptions frames tags]"; got != want {
		t.Errorf("truncated %s, want %s", got, want)
	}
	if len(payload["message"].(string)) < ingest.MaxMessage-10 {
		t.Error("the message did not survive")
	}
	if _, err := eventlog.EncodeBlock([]errata.Event{e}); err != nil {
		t.Errorf("the log does not take it: %v", err)
	}
}

// TestTheLongestMessageKeepsItsContext: a message of full length takes nothing away
// from frames, causes and tags.
func TestTheLongestMessageKeepsItsContext(t *testing.T) {
	message := strings.Repeat("\"\\", ingest.MaxMessage/2)
	frames := make([]ingest.Frame, ingest.MaxFrames)
	for i := range frames {
		frames[i] = ingest.Frame{File: "src/" + strings.Repeat("f", 80), Function: "Shop\\Cart::checkout", Line: int64(i + 1)}
	}
	e := eventOf(t, ingest.Draft{Class: "Thrown", Message: message, Context: ingest.Context{
		Exceptions: []ingest.Exception{{Class: "Cause", Message: "why", Frames: frames}, {Class: "Thrown", Message: message, Frames: frames}},
		Tags:       []ingest.Pair{{Key: "tier", Value: "gold"}}, Extra: json.RawMessage(`{"cart":7}`),
	}})
	payload := payloadOf(t, e)
	if payload["message"] != message || payload["truncated"] != nil || payload["extra"] == nil || len(payload["exceptions"].([]any)) != 2 {
		t.Errorf("truncated %v, %d bytes: %.200s", payload["truncated"], len(e.Payload), e.Payload)
	}
}

// TestACauseThatIsCutIsNamed: nothing else has the end of its message.
func TestACauseThatIsCutIsNamed(t *testing.T) {
	long := strings.Repeat("row of the dump, ", ingest.MaxCause/10)
	for message, want := range map[string]any{"short": []any{"exceptions"}, long: nil} {
		e := eventOf(t, ingest.Draft{Message: message, Context: ingest.Context{Exceptions: []ingest.Exception{{Class: "E", Message: long}}}})
		if got := payloadOf(t, e)["truncated"]; !reflect.DeepEqual(got, want) {
			t.Errorf("message %.10q: truncated %v, want %v", message, got, want)
		}
	}
}

// TestSignatureOfALongMessage: what is kept of a message does not change what is
// signed of it.
func TestSignatureOfALongMessage(t *testing.T) {
	for _, at := range []int{ingest.MaxSigned - 20, ingest.MaxSigned, ingest.MaxSigned + 300, 3 * ingest.MaxSigned} {
		// A line of numbers is one placeholder, so that the words behind it are signed
		// unless they are cut off.
		numbers := strings.Repeat("7, ", at/3)
		cut := at >= ingest.MaxSigned
		one, two := eventOf(t, ingest.Draft{Message: numbers + "apples"}), eventOf(t, ingest.Draft{Message: numbers + "pears"})
		if same := one.Signature == two.Signature; same != cut {
			t.Errorf("words at %d: same signature %t, want %t", at, same, cut)
		}
	}
}

func TestPayloadSaysWhatWasLeftOut(t *testing.T) {
	frames := make([]ingest.Frame, ingest.MaxFrames+1)
	for i := range frames {
		frames[i] = ingest.Frame{Line: int64(i + 1)}
	}
	tags := make([]ingest.Pair, ingest.MaxTags+1)
	for i := range tags {
		tags[i] = ingest.Pair{Key: fmt.Sprint("t", i), Value: "v"}
	}
	for _, c := range []struct {
		name    string
		context ingest.Context
		want    any
	}{
		{"nothing", ingest.Context{Tags: tags[1:], Extra: json.RawMessage(`{"a":1}`), Exceptions: []ingest.Exception{{Frames: frames[1:]}}}, nil},
		{"a frame", ingest.Context{Exceptions: []ingest.Exception{{Frames: frames}}}, []any{"frames"}},
		{"a cause", ingest.Context{Exceptions: make([]ingest.Exception, ingest.MaxExceptions+1)}, []any{"exceptions"}},
		{"a tag", ingest.Context{Tags: tags}, []any{"tags"}},
		{"broken extra", ingest.Context{Extra: json.RawMessage(`{"a":`)}, []any{"extra"}},
		{"extra that is no object", ingest.Context{Extra: json.RawMessage(`[1]`)}, []any{"extra"}},
		{"large extra", ingest.Context{Extra: json.RawMessage(`{"a":["` + strings.Repeat(strings.Repeat("x", 16000)+`","`, 5) + `"]}`)}, []any{"extra"}},
	} {
		payload := payloadOf(t, eventOf(t, ingest.Draft{Message: "m", Context: c.context}))
		if got := payload["truncated"]; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: truncated %v, want %v", c.name, got, c.want)
		}
	}
	e := eventOf(t, ingest.Draft{Message: "m", Context: ingest.Context{Exceptions: []ingest.Exception{{Frames: frames}}}})
	kept := payloadOf(t, e)["exceptions"].([]any)[0].(map[string]any)["frames"].([]any)
	first, last := kept[0].(map[string]any)["line"], kept[len(kept)-1].(map[string]any)["line"]
	if len(kept) != ingest.MaxFrames || first != 1.0 || last != float64(ingest.MaxFrames+1) {
		t.Errorf("%d frames from %v to %v", len(kept), first, last)
	}
}

// TestArgumentsAreShapes: a text that is no shape may be a value and must not pass.
func TestArgumentsAreShapes(t *testing.T) {
	for arg, want := range map[string]string{
		"int": "int", "null": "null", "string(12)": "string(12)", "array(3)": "array(3)", `object(App\User)`: `object(App\User)`,
		"resource(stream)": "resource(stream)", "hunter2": "unknown", "string(hunter2)": "unknown", "": "unknown", "object(a b)": "unknown",
		"object()": "unknown", "int(": "unknown", "object(\u202ex)": "unknown", "object(Größe)": "object(Größe)",
		"object(" + strings.Repeat("x", 500) + ")": "unknown", "array(3) and hunter2": "unknown",
	} {
		e := eventOf(t, ingest.Draft{Message: "m", Context: ingest.Context{Exceptions: []ingest.Exception{{Frames: []ingest.Frame{{Args: []string{arg}}}}}}})
		got := payloadOf(t, e)["exceptions"].([]any)[0].(map[string]any)["frames"].([]any)[0].(map[string]any)["args"].([]any)[0]
		if got != want {
			t.Errorf("%q: %v, want %s", arg, got, want)
		}
	}
}

// TestTagsAreKeptOnce: a JSON object must not hold one key twice, and a key may
// be or name a secret.
func TestTagsAreKeptOnce(t *testing.T) {
	e := eventOf(t, ingest.Draft{Message: "m", Context: ingest.Context{Tags: []ingest.Pair{
		{Key: "a", Value: "1"}, {Key: "a", Value: "2"}, {Key: "b", Value: ""}, {Key: "X-Api-Key", Value: "hunter2"}, {Key: secret, Value: "c"}, {Key: "q\"", Value: "\n"},
	}}})
	want := `{"message":"m","tags":{"a":"1","X-Api-Key":"[Filtered]","[Filtered]":"c","q\"":" "}}`
	if got := string(e.Payload); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestAnonymousClass(t *testing.T) {
	a := eventOf(t, ingest.Draft{Class: "App\\Job@anonymous\x00/srv/app/a.php:12$0", Message: "m"})
	b := eventOf(t, ingest.Draft{Class: "App\\Job@anonymous\x00/srv/app/a.php:12$7f", Message: "m"})
	if a.Class != "App\\Job@anonymous" || a.Signature != b.Signature {
		t.Errorf("%q %s, %q %s", a.Class, a.Signature, b.Class, b.Signature)
	}
}

// TestScrubBeforeSign: messages that differ only in a secret are one problem.
func TestScrubBeforeSign(t *testing.T) {
	var signatures []errata.Signature
	for _, password := range []string{"hunter", "swordfish", "open-sesame"} {
		signatures = append(signatures, eventOf(t, ingest.Draft{Message: "login failed: password=" + password}).Signature)
	}
	if signatures[0] != signatures[1] || signatures[0] != signatures[2] {
		t.Errorf("%v", signatures)
	}
}

// TestLimitsAgree: the receivers and the scrubber refuse the same JSON.
func TestLimitsAgree(t *testing.T) {
	if scrub.MaxDepth != ingest.MaxDepth || scrub.MaxValues != ingest.MaxValues {
		t.Errorf("scrub allows depth %d and %d values, ingest %d and %d", scrub.MaxDepth, scrub.MaxValues, ingest.MaxDepth, ingest.MaxValues)
	}
}
