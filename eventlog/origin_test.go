package eventlog

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
)

// The forms that an event has had on the log.
const (
	today    = iota
	deployed // ends with environment and release
	older    // ends with the payload
)

// encoded returns the entry of an event in the form.
func encoded(t *testing.T, e errata.Event, form int) Entry {
	t.Helper()
	raw, err := appendEvent(nil, &e)
	if err != nil {
		t.Fatal(err)
	}
	if form >= deployed {
		raw = raw[:len(raw)-len(appendTrail(nil, &e.Trail))]
	}
	if form == older {
		raw = raw[:len(raw)-2-len(e.Environment)-len(e.Release)]
	}
	putLength(raw, len(raw)-lengthSize)
	entry, rest, err := parseEntry(e.ID, raw)
	if err != nil || len(rest) > 0 {
		t.Fatal(err, len(rest))
	}
	return entry
}

func TestOriginOfAnyVersion(t *testing.T) {
	const both = `{"source":"sentry","tags":{"release":"no","environment":"no"},"release":"1.0","environment":"qa"}`
	for _, test := range []struct {
		name                 string
		event                errata.Event
		form                 int
		environment, release string
	}{
		{"of today", errata.Event{Environment: "production", Release: "1.4"}, today, "production", "1.4"},
		{"of today without a release", errata.Event{Environment: "production"}, today, "production", ""},
		{"of today with neither does not read the payload", errata.Event{Payload: []byte(both)}, today, "", ""},
		{"with neither does not read the payload", errata.Event{Payload: []byte(both)}, deployed, "", ""},
		{"older", errata.Event{Payload: []byte(both)}, older, "qa", "1.0"},
		{"older with escapes", errata.Event{Payload: []byte(`{"\u0065nvironment":"\u0071\n\"a\ud83d\ude00","release":"\u00e9"}`)}, older, "q\n\"a😀", "é"},
		{"older with neither", errata.Event{Payload: []byte(`{"source":"php"}`)}, older, "", ""},
		{"older with other types", errata.Event{Payload: []byte(`{"environment":{"environment":"x"},"release":7}`)}, older, "", ""},
		{"older without a payload", errata.Event{}, older, "", ""},
		{"older with half a payload", errata.Event{Payload: []byte(`{"environment":"qa","release":`)}, older, "", ""},
		{"older with another payload", errata.Event{Payload: []byte(`"environment"`)}, older, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.event.Book, test.event.Project, test.event.Class = errata.BookSystem, 1<<40, "E"
			entry := encoded(t, test.event, test.form)
			o := entry.Origin()
			if o.Project != 1<<40 || string(o.Class) != "E" || string(o.Environment) != test.environment || string(o.Release) != test.release {
				t.Errorf("the origin is %d %q %q %q", o.Project, o.Class, o.Environment, o.Release)
			}
			ev, err := entry.Event()
			if err != nil || ev.Environment != test.environment || ev.Release != test.release {
				t.Errorf("the event has %q %q (%v)", ev.Environment, ev.Release, err)
			}
		})
	}
}

// TestOriginOfAPrefix: of a body that is cut off, the origin is either that of the
// whole or nothing, and never a part of a text.
func TestOriginOfAPrefix(t *testing.T) {
	e := goldenEvents()[0]
	e.Payload = []byte(`{"environment":"production","release":"shop@1.4.2"}`)
	entry := encoded(t, e, today)
	whole := 0
	for n := range len(entry.body) + 1 {
		cut := entry
		cut.body = entry.body[:n]
		o := cut.Origin()
		switch ev, err := cut.Event(); {
		case err == nil && string(o.Environment) == e.Environment && string(o.Release) == e.Release && string(o.Class) == e.Class &&
			cmp.Equal(o.Trail(), ev.Trail) && (n < len(entry.body) || cmp.Equal(ev, e, eventOptions)):
			whole++
		case err != nil && cmp.Equal(o, Origin{}, cmp.AllowUnexported(TagList{})):
		default:
			t.Errorf("of %d bytes: %+v, %v", n, o, err)
		}
	}
	if whole != 3 {
		t.Errorf("%d prefixes are events, want the whole and the two forms of older versions", whole)
	}
}

// TestDeploymentIsThatOfJSON: for any object, however it is written, the members are
// those that encoding/json reads.
func TestDeploymentIsThatOfJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var members []string
		for range rapid.IntRange(0, 6).Draw(t, "members") {
			key := rapid.SampledFrom([]string{"environment", "release", "tags", "", "Release"}).Draw(t, "key")
			value := rapid.OneOf(
				rapid.Map(rapid.String(), func(s string) string { return quoted(t, s) }),
				rapid.SampledFrom([]string{`null`, `1.5e3`, `{"release":"inner"}`, `["environment",{}]`, `true`}),
			).Draw(t, "value")
			members = append(members, quoted(t, key)+" : "+value)
		}
		payload := []byte("{" + strings.Join(members, " ,\n") + "}")
		var want map[string]any
		if err := json.Unmarshal(payload, &want); err != nil {
			t.Fatal(err)
		}
		o := originInPayload(payload, 0)
		for key, got := range map[string]string{"environment": string(o.Environment), "release": string(o.Release)} {
			// Of several members with one name, the last text counts.
			if text, ok := want[key].(string); ok && text != got {
				t.Fatalf("%s of %s is %q, want %q", key, payload, got, text)
			}
			if _, there := want[key]; !there && got != "" {
				t.Fatalf("%s of %s is %q, and it has none", key, payload, got)
			}
		}
	})
}

// quoted writes a text as JSON, some of its characters as escapes.
func quoted(t *rapid.T, text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r < 0x10000 && (r < ' ' || r == '"' || r == '\\' || rapid.Bool().Draw(t, "escape")):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
