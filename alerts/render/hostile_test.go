package render_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/errata-log/errata/alerts"
)

// Nothing that an application writes is interpreted by a channel: alone, in a list, and
// as the name of a rule, which stands beside it.
func TestNothingIsInterpreted(t *testing.T) {
	events := hostile()
	if len(events) < 250 {
		t.Fatalf("%d events, want 250", len(events))
	}
	for _, channel := range channels {
		t.Run(string(channel.Kind), func(t *testing.T) {
			for i, item := range events {
				still := item // nothing of it but the project is shown
				still.Cause, still.Minutes = alerts.CauseQuiet, 90
				for _, one := range []alerts.Item{item, spiked(item), still} {
					m := messageOf(one)
					m.RuleName = item.Class
					checkAll(t, mustRender(t, channel, m), m)
				}
				if to := min(i+alerts.MaxItems, len(events)); i%alerts.MaxItems == 0 {
					list := messageOf(slices.Concat([]alerts.Item{spiked(item), still}, events[i:to-2])...)
					list.Fired += 37
					checkAll(t, mustRender(t, channel, list), list)
				}
				if t.Failed() {
					t.Fatalf("event %d: %.200q", i, item.Text)
				}
			}
		})
	}
}

// The name of a channel is shown by its test message.
func TestNamesOfChannels(t *testing.T) {
	m := messageOf()
	m.Test = true
	for _, channel := range channels {
		for _, p := range payloads {
			channel.Name = p
			m.RuleName = p
			checkAll(t, mustRender(t, channel, m), m)
		}
	}
}

// A text that means nothing to a platform is shown as it is.
func TestOrdinaryTextsAreKept(t *testing.T) {
	item := sample()
	item.Text, item.Class = "Größe 'x' (42) fehlt, 日本", "RangeError"
	for _, channel := range channels {
		r := mustRender(t, channel, messageOf(item))
		if all := string(r.Body) + r.Mail.Text; !strings.Contains(all, item.Text) || !strings.Contains(all, item.Class) {
			t.Errorf("%s does not show the text: %s", channel.Kind, all)
		}
	}
}

var causes = []alerts.Cause{alerts.CauseNew, alerts.CauseRegressed, alerts.CauseReached, alerts.CauseFrequency, alerts.CauseSpike, alerts.CauseQuiet}

// words draws ordinary and hostile texts of any length and any bytes.
func words() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(), rapid.SampledFrom(payloads),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 300), func(b []byte) string { return string(b) }),
		rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(rapid.SampledFrom(payloads).Draw(t, "payload"), rapid.IntRange(1, 2000).Draw(t, "times"))
		}),
	)
}

func items() *rapid.Generator[alerts.Item] {
	return rapid.Custom(func(t *rapid.T) alerts.Item {
		at := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "event"), 0)
		text := func(name string) string { return words().Draw(t, name) }
		link := "https://errata.example.com/" + strings.Repeat("r", rapid.IntRange(0, 700).Draw(t, "link"))
		return alerts.Item{
			Cause: rapid.SampledFrom(causes).Draw(t, "cause"), Event: at, Book: text("book"), Signature: text("signature"), Count: rapid.Uint64().Draw(t, "count"),
			Users: rapid.Uint64().Draw(t, "users"), Project: text("project"), Environment: text("environment"), Release: text("release"), Level: text("level"),
			Class: text("class"), Text: text("text"), File: text("file"), Line: rapid.Uint32().Draw(t, "line"), FirstSeen: at, EventID: text("event id"),
			Link: link, MuteLink: link + "/mute", Events: rapid.Uint64().Draw(t, "events"), Usual: rapid.Uint64().Draw(t, "usual"), Minutes: rapid.Uint64().Draw(t, "minutes"),
		}
	})
}

func TestAnyMessageFits(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := messageOf(rapid.SliceOfN(items(), 1, alerts.MaxItems).Draw(r, "items")...)
		m.Fired += rapid.Uint64Range(0, 1<<40).Draw(r, "more")
		m.RuleName = words().Draw(r, "rule")
		for _, channel := range channels {
			checkAll(t, mustRender(t, channel, m), m)
		}
		if t.Failed() {
			r.FailNow()
		}
	})
}

// The longest messages are those of ten long texts whose runes take the most room as UTF-8,
// UTF-16, JSON, HTML, or with what breaks addresses.
func TestTenLongTextsFit(t *testing.T) {
	for _, p := range []string{"x", "é", "日", "😀", "<", "\"", "\\", "@", "#", "a.", "`", "'", "\xff"} {
		item := sample()
		long := strings.Repeat(p, 100_000)
		item.Text, item.Class, item.File, item.Release, item.Environment, item.Level = long, long, long, long, long, long
		item.Link += strings.Repeat("&", 600)
		item.MuteLink += strings.Repeat("&", 600)
		ten := messageOf(item, item, item, item, item, item, item, item, item, item)
		ten.RuleName = long
		ten.RuleLink += strings.Repeat("&", 600)
		one := ten
		one.Items, one.Fired = one.Items[:1], 1
		for _, channel := range channels {
			for _, m := range []alerts.Message{ten, one} {
				if checkAll(t, mustRender(t, channel, m), m); t.Failed() {
					t.Fatalf("%s, %q, %d firings", channel.Kind, p, m.Fired)
				}
			}
		}
	}
}

func FuzzRender(f *testing.F) {
	for i, p := range payloads {
		f.Add(p, payloads[len(payloads)-1-i], p, uint8(i))
	}
	f.Fuzz(func(t *testing.T, text, class, rest string, n uint8) {
		item := sample()
		item.Text, item.Class, item.File, item.Release, item.Environment, item.Project, item.Level = text, class, rest, rest, class, text, rest
		list := []alerts.Item{item}
		for range n % alerts.MaxItems {
			list = append(list, item)
		}
		m := messageOf(list...)
		m.RuleName = rest
		for _, channel := range channels {
			checkAll(t, mustRender(t, channel, m), m)
		}
	})
}
