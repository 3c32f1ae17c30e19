package ingest_test

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
)

var received = time.Date(2026, 11, 21, 3, 20, 0, 123_456_789, time.UTC)

func eventOf(t testing.TB, d ingest.Draft) errata.Event {
	t.Helper()
	var rules ingest.Rules
	e, refused := rules.Event(&d, ingest.Source{Project: 1, Received: received}, errata.EventID{1})
	if refused != nil {
		t.Fatal(refused)
	}
	return e
}

func payloadOf(t testing.TB, e errata.Event) map[string]any {
	t.Helper()
	var payload map[string]any
	if err := json.Unmarshal(e.Payload, &payload); err != nil {
		t.Fatalf("payload %s: %v", e.Payload, err)
	}
	return payload
}

func TestEventTime(t *testing.T) {
	at := received.Truncate(time.Millisecond)
	for _, test := range []struct {
		name       string
		time, sent time.Time
		want       time.Time
	}{
		{"not said", time.Time{}, time.Time{}, at},
		{"a minute ago", at.Add(-time.Minute), time.Time{}, at.Add(-time.Minute)},
		{"cut to milliseconds", at.Add(-time.Second - 999*time.Microsecond), time.Time{}, at.Add(-1001 * time.Millisecond)},
		{"in the future", at.Add(30 * time.Second), time.Time{}, at},
		{"far in the future", at.Add(300 * time.Hour), time.Time{}, at},
		{"29 days old", at.Add(-29 * 24 * time.Hour), time.Time{}, at.Add(-29 * 24 * time.Hour)},
		{"31 days old", at.Add(-31 * 24 * time.Hour), time.Time{}, at.Add(-31 * 24 * time.Hour)},
		{"of 1980", time.Date(1980, 1, 6, 0, 0, 0, 0, time.UTC), time.Time{}, at},
		{"clock an hour slow", at.Add(-time.Hour - time.Second), at.Add(-time.Hour), at.Add(-time.Second)},
		{"clock an hour fast", at.Add(time.Hour - time.Second), at.Add(time.Hour), at.Add(-time.Second)},
		{"clock good, network slow", at.Add(-20 * time.Second), at.Add(-10 * time.Second), at.Add(-20 * time.Second)},
	} {
		e := eventOf(t, ingest.Draft{Message: "m", Time: test.time, SentAt: test.sent})
		if d := e.Time.Sub(test.want); d < -time.Millisecond || d > time.Millisecond {
			t.Errorf("%s: got %v, want %v", test.name, e.Time, test.want)
		}
		if e.Time.Nanosecond()%int(time.Millisecond) != 0 || e.Received != at {
			t.Errorf("%s: time %v, received %v: want whole milliseconds", test.name, e.Time, e.Received)
		}
	}
}

func TestEventFields(t *testing.T) {
	for _, test := range []struct {
		name  string
		draft ingest.Draft
		got   func(errata.Event) any
		want  any
	}{
		{"level defaults to error", ingest.Draft{Message: "m"}, func(e errata.Event) any { return e.Level }, errata.LevelError},
		{"book is said", ingest.Draft{Message: "m", Book: errata.BookDatabase}, func(e errata.Event) any { return e.Book }, errata.BookDatabase},
		{"book by class", ingest.Draft{Class: "PDOException"}, func(e errata.Event) any { return e.Book }, errata.BookDatabase},
		{"book by message", ingest.Draft{Message: "SQLSTATE[42S02]: no such table"}, func(e errata.Event) any { return e.Book }, errata.BookDatabase},
		{"book by a cause", ingest.Draft{Class: "OrderError", Context: ingest.Context{Exceptions: []ingest.Exception{{Class: "*pgconn.PgError"}, {Class: "OrderError"}}}},
			func(e errata.Event) any { return e.Book }, errata.BookDatabase},
		{"book by module", ingest.Draft{Class: "OperationalError", Context: ingest.Context{Exceptions: []ingest.Exception{{Class: "OperationalError", Module: "psycopg2"}}}},
			func(e errata.Event) any { return e.Book }, errata.BookDatabase},
		{"book otherwise", ingest.Draft{Class: "OrderError"}, func(e errata.Event) any { return e.Book }, errata.BookSystem},
		{"class behind a wrapper", ingest.Draft{Class: "*fmt.wrapError", Context: ingest.Context{Exceptions: []ingest.Exception{{Class: "*main.OrderError"}, {Class: "*fmt.wrapError"}}}},
			func(e errata.Event) any { return e.Class }, "*main.OrderError"},
		{"class of nothing but wrappers", ingest.Draft{Class: "*errors.errorString", Context: ingest.Context{Exceptions: []ingest.Exception{{Class: "*errors.errorString"}}}},
			func(e errata.Event) any { return e.Class }, "*errors.errorString"},
		{"message of the thrown one", ingest.Draft{Class: "E", Context: ingest.Context{Exceptions: []ingest.Exception{{Message: "cause"}, {Message: "thrown"}}}},
			func(e errata.Event) any { return e.Message }, "thrown"},
		{"preview is the first line", ingest.Draft{Message: "first\nsecond"}, func(e errata.Event) any { return e.Message }, "first"},
		{"preview is short", ingest.Draft{Message: strings.Repeat("é", 300)}, func(e errata.Event) any { return utf8.RuneCountInString(e.Message) }, 200},
		{"preview of just 200", ingest.Draft{Message: strings.Repeat("é", 200)}, func(e errata.Event) any { return e.Message }, strings.Repeat("é", 200)},
		{"control and bidi characters", ingest.Draft{Message: "a\x1b[31m\u202eb\x00"}, func(e errata.Event) any { return e.Message }, "a[31mb"},
		{"invalid UTF-8", ingest.Draft{Message: "a\xffb"}, func(e errata.Event) any { return e.Message }, "a\ufffdb"},
		{"secret in the message", ingest.Draft{Message: "login failed with password=hunter2"}, func(e errata.Event) any { return strings.Contains(e.Message, "hunter2") }, false},
		{"uri", ingest.Draft{Message: "m", URI: "https://shop.example.test/checkout?token=secret&page=2#top"}, func(e errata.Event) any { return e.URI }, "/checkout?token=[Filtered]&page=2"},
		{"method", ingest.Draft{Message: "m", Method: "post"}, func(e errata.Event) any { return e.Method }, "POST"},
		{"method that is none", ingest.Draft{Message: "m", Method: "GET /"}, func(e errata.Event) any { return e.Method }, ""},
		{"user", ingest.Draft{Message: "m", UserID: "1204"}, func(e errata.Event) any { return e.UserID }, int64(1204)},
		{"user in letters", ingest.Draft{Message: "m", UserID: "u-77"}, func(e errata.Event) any { return e.UserID }, int64(0)},
		{"user too large", ingest.Draft{Message: "m", UserID: "9223372036854775808"}, func(e errata.Event) any { return e.UserID }, int64(0)},
		{"mapped address", ingest.Draft{Message: "m", IP: netip.MustParseAddr("::ffff:203.0.113.9")}, func(e errata.Event) any { return e.IP.String() }, "203.0.113.9"},
		{"line below zero", ingest.Draft{Message: "m", Line: -1}, func(e errata.Event) any { return e.Line }, uint32(0)},
		{"file URL", ingest.Draft{Message: "m", File: "file:///src/app.js"}, func(e errata.Event) any { return e.File }, "/src/app.js"},
		{"script URL", ingest.Draft{Message: "m", File: "https://cdn.example.test/js/app.js?v=3"}, func(e errata.Event) any { return e.File }, "js/app.js"},
		{"app URL", ingest.Draft{Message: "m", File: "app:///main.js"}, func(e errata.Event) any { return e.File }, "/main.js"},
		{"backslashes", ingest.Draft{Message: "m", File: `src\Order.php`}, func(e errata.Event) any { return e.File }, "src/Order.php"},
	} {
		if got := test.got(eventOf(t, test.draft)); got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

func TestInstallRoots(t *testing.T) {
	rules := ingest.Rules{InstallRoots: []string{"/srv", "/srv/app/", `C:\www`}}
	for file, want := range map[string]string{
		"/srv/app/src/a.go": "src/a.go", "/srv/other/a.go": "other/a.go", "/srvice/a.go": "/srvice/a.go",
		`C:\www\index.php`: "index.php", "./a.go": "a.go",
	} {
		d := ingest.Draft{Message: "m", File: file}
		e, refused := rules.Event(&d, ingest.Source{Received: received}, errata.EventID{})
		if refused != nil || e.File != want {
			t.Errorf("%s: got %q (%v), want %q", file, e.File, refused, want)
		}
	}
}

func TestSignatureOfSightings(t *testing.T) {
	base := ingest.Draft{Class: "E", Message: "order 42 failed", File: "a.go", Line: 1}
	signature := func(change func(*ingest.Draft)) errata.Signature {
		d := base
		change(&d)
		return eventOf(t, d).Signature
	}
	same := signature(func(*ingest.Draft) {})
	for name, change := range map[string]func(*ingest.Draft){
		"number":              func(d *ingest.Draft) { d.Message = "order 43 failed" },
		"line":                func(d *ingest.Draft) { d.Line = 99 },
		"level":               func(d *ingest.Draft) { d.Level = errata.LevelFatal },
		"user":                func(d *ingest.Draft) { d.UserID = "7" },
		"default fingerprint": func(d *ingest.Draft) { d.Fingerprint = []string{"{{ default }}"} },
		"template":            func(d *ingest.Draft) { d.Message, d.Template = "order forty failed", "order 42 failed" },
	} {
		if signature(change) != same {
			t.Errorf("a different %s makes another problem", name)
		}
	}
	for name, change := range map[string]func(*ingest.Draft){
		"class":       func(d *ingest.Draft) { d.Class = "F" },
		"file":        func(d *ingest.Draft) { d.File = "b.go" },
		"message":     func(d *ingest.Draft) { d.Message = "order 42 shipped" },
		"book":        func(d *ingest.Draft) { d.Book = errata.BookDatabase },
		"fingerprint": func(d *ingest.Draft) { d.Fingerprint = []string{"{{ default }}", "tenant-a"} },
	} {
		if signature(change) == same {
			t.Errorf("a different %s is the same problem", name)
		}
	}
	own := func(message string) errata.Signature {
		return signature(func(d *ingest.Draft) { d.Message, d.Fingerprint = message, []string{"mine"} })
	}
	if own("a") != own("b") {
		t.Error("the caller's fingerprint does not stand in for the message")
	}
}

func TestPayload(t *testing.T) {
	handled := false
	e := eventOf(t, ingest.Draft{
		ClientID: "abc", Message: "first\nsecond", UserID: "u-77",
		Context: ingest.Context{
			Source: "native", Handled: &handled, Release: "shop@1.4.2",
			Headers: []ingest.Pair{{Key: "user-agent", Value: "curl/8"}, {Key: "Cookie", Value: "session=1"}, {Key: "Authorization", Value: "Bearer x"}},
			Tags:    []ingest.Pair{{Key: "tier", Value: "gold"}, {Key: "api_key", Value: "abc"}},
			Exceptions: []ingest.Exception{{Class: "E", Message: "m", Frames: []ingest.Frame{
				{File: "a.go", Line: 7, Function: "f", InApp: true, Args: []string{"string(12)"}},
			}}},
			Extra: json.RawMessage(`{"cart":{"password":"hunter2","items":3}}`),
		},
	})
	want := `{"source":"native","event_id":"abc","message":"first\nsecond","exceptions":[{"class":"E","message":"m","frames":[{"file":"a.go","line":7,"function":"f","in_app":true,"args":["string(12)"]}]}],"handled":false,"user":"u-77","request":{"headers":{"User-Agent":"curl/8"}},"tags":{"tier":"gold","api_key":"[Filtered]"},"release":"shop@1.4.2","extra":{"cart":{"password":"[Filtered]","items":3}}}`
	if got := string(e.Payload); got != want {
		t.Errorf("payload\ngot  %s\nwant %s", got, want)
	}
}

// TestPayloadIsBounded: a large payload loses extra first, then frames from the
// middle.
func TestPayloadIsBounded(t *testing.T) {
	frames := make([]ingest.Frame, 200)
	for i := range frames {
		frames[i] = ingest.Frame{File: strings.Repeat("f", ingest.MaxFile), Function: "g", Line: int64(i + 1)}
	}
	chain := make([]ingest.Exception, 30)
	for i := range chain {
		chain[i] = ingest.Exception{Class: "E", Frames: frames}
	}
	e := eventOf(t, ingest.Draft{Message: "m", Context: ingest.Context{
		Exceptions: chain, Extra: json.RawMessage(`{"a":"` + strings.Repeat("x", ingest.MaxPayload) + `"}`),
	}})
	if len(e.Payload) > ingest.MaxPayload {
		t.Errorf("payload of %d bytes, want at most %d", len(e.Payload), ingest.MaxPayload)
	}
	payload := payloadOf(t, e)
	if payload["extra"] != nil {
		t.Error("extra was kept")
	}
	if n := len(payload["exceptions"].([]any)); n != ingest.MaxExceptions {
		t.Errorf("%d exceptions, want %d", n, ingest.MaxExceptions)
	}
}

func TestNothingToSayIsRefused(t *testing.T) {
	var rules ingest.Rules
	for name, d := range map[string]ingest.Draft{
		"a place":           {File: "a.go", Line: 3},
		"invisible message": {Message: "\x00\u202e\u200b"},
		"invisible class":   {Class: "\x00E"},
		"empty exceptions":  {Context: ingest.Context{Exceptions: make([]ingest.Exception, 2)}},
	} {
		if _, refused := rules.Event(&d, ingest.Source{Received: received}, errata.EventID{}); refused == nil || refused.Kind != errata.KindInvalidEvent {
			t.Errorf("%s: got %v, want invalid_event", name, refused)
		}
	}
	d := ingest.Draft{Context: ingest.Context{Exceptions: []ingest.Exception{{Frames: make([]ingest.Frame, 1)}}}}
	if _, refused := rules.Event(&d, ingest.Source{Received: received}, errata.EventID{}); refused != nil {
		t.Errorf("a stack without a word: %v", refused)
	}
}

// TestAnyDraft: the event of any draft is bounded, valid and the same every time.
func TestAnyDraft(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.Map(rapid.String(), func(s string) string { return strings.Repeat(s, 500) }))
	pair := rapid.Custom(func(t *rapid.T) ingest.Pair {
		return ingest.Pair{Key: text.Draw(t, "key"), Value: text.Draw(t, "value")}
	})
	frame := rapid.Custom(func(t *rapid.T) ingest.Frame {
		return ingest.Frame{File: text.Draw(t, "file"), Line: rapid.Int64().Draw(t, "line"), Function: text.Draw(t, "function"), Args: []string{text.Draw(t, "arg")}}
	})
	exception := rapid.Custom(func(t *rapid.T) ingest.Exception {
		return ingest.Exception{Class: text.Draw(t, "class"), Message: text.Draw(t, "message"), Module: text.Draw(t, "module"), Frames: rapid.SliceOfN(frame, 0, 4).Draw(t, "frames")}
	})
	rapid.Check(t, func(t *rapid.T) {
		d := ingest.Draft{
			ClientID: text.Draw(t, "id"), Class: text.Draw(t, "class"), Message: "m" + text.Draw(t, "message"), Template: text.Draw(t, "template"),
			File: text.Draw(t, "file"), Line: rapid.Int64().Draw(t, "line"), URI: text.Draw(t, "uri"), Method: text.Draw(t, "method"),
			UserID: text.Draw(t, "user"), Fingerprint: rapid.SliceOfN(text, 0, 3).Draw(t, "fingerprint"),
			Context: ingest.Context{
				Exceptions: rapid.SliceOfN(exception, 0, 3).Draw(t, "exceptions"), Headers: rapid.SliceOfN(pair, 0, 3).Draw(t, "headers"),
				Tags: rapid.SliceOfN(pair, 0, 3).Draw(t, "tags"), Release: text.Draw(t, "release"), Extra: json.RawMessage(text.Draw(t, "extra")),
			},
		}
		var rules ingest.Rules
		src := ingest.Source{Project: 1, Received: received}
		e, refused := rules.Event(&d, src, errata.EventID{})
		if refused != nil {
			t.Fatal(refused)
		}
		for name, field := range map[string]struct {
			text  string
			limit int
		}{
			"file": {e.File, ingest.MaxFile}, "message": {e.Message, 4 * ingest.PreviewRunes}, "class": {e.Class, ingest.MaxClass},
			"uri": {e.URI, ingest.MaxURI}, "method": {e.Method, ingest.MaxMethod},
		} {
			if !utf8.ValidString(field.text) || len(field.text) > field.limit || strings.ContainsAny(field.text, "\n\x00\x1b\u202e") {
				t.Fatalf("%s: %q", name, field.text)
			}
		}
		if !json.Valid(e.Payload) || !utf8.Valid(e.Payload) || len(e.Payload) > ingest.MaxPayload {
			t.Fatalf("payload of %d bytes: %s", len(e.Payload), e.Payload)
		}
		again, _ := rules.Event(&d, src, errata.EventID{})
		if again.Signature != e.Signature || string(again.Payload) != string(e.Payload) {
			t.Fatal("not the same twice")
		}
	})
}

func BenchmarkEvent(b *testing.B) {
	frames := make([]ingest.Frame, 30)
	for i := range frames {
		frames[i] = ingest.Frame{File: "/srv/app/internal/order/step.go", Line: 42, Function: "handler", Module: "shop/internal/order", InApp: true}
	}
	for name, n := range map[string]int{"frames=3": 3, "frames=30": 30} {
		d := ingest.Draft{
			ClientID: "6dc715abb89b4f6694ff46ae15f7dfb8", Class: "*main.OrderError", Message: "load order: order 42 failed",
			File: "/srv/app/main.go", Line: 51, URI: "/checkout?page=2&token=abc", Method: "POST", UserID: "1204",
			Time: received.Add(-time.Second), IP: netip.MustParseAddr("203.0.113.9"),
			Context: ingest.Context{
				Source: "sentry", Release: "shop@1.4.2", Environment: "production", ServerName: "web-1", Platform: "go",
				Headers:    []ingest.Pair{{Key: "User-Agent", Value: "Mozilla/5.0 (X11; Linux x86_64)"}},
				Tags:       []ingest.Pair{{Key: "feature", Value: "checkout"}},
				Exceptions: []ingest.Exception{{Class: "*main.OrderError", Message: "load order: order 42 failed", Frames: frames[:n]}},
			},
		}
		rules := ingest.Rules{InstallRoots: []string{"/srv/app"}}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, refused := rules.Event(&d, ingest.Source{Project: 1, Received: received}, errata.EventID{}); refused != nil {
					b.Fatal(refused)
				}
			}
		})
	}
}

// TestArchiveTimes: old times from an archive are kept, impossible ones are not.
func TestArchiveTimes(t *testing.T) {
	var rules ingest.Rules
	for _, c := range []struct {
		at            time.Time
		archive, kept bool
	}{
		{received.AddDate(-40, 0, 0), false, false},
		{received.AddDate(-40, 0, 0), true, true},
		{received.AddDate(0, 0, -1), true, true},
		{time.Unix(0, 0), true, true},
		{time.Unix(-1, 0), true, false},
		{received.Add(time.Hour), true, false},
		{time.Time{}, true, false},
	} {
		d := ingest.Draft{Message: "m", Time: c.at}
		e, refused := rules.Event(&d, ingest.Source{Received: received, Archive: c.archive}, errata.EventID{})
		want := received.UTC().Truncate(time.Millisecond)
		if c.kept {
			want = c.at.UTC().Truncate(time.Millisecond)
		}
		if refused != nil || !e.Time.Equal(want) {
			t.Errorf("%v, archive %t: %v (%v), want %v", c.at, c.archive, e.Time, refused, want)
		}
	}
}
