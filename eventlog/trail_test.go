package eventlog

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
)

func drawTrail(t *rapid.T) errata.Trail {
	return errata.Trail{
		ClientID: rapid.String().Draw(t, "client id"), UserHash: rapid.Uint64().Draw(t, "user hash"), User: rapid.String().Draw(t, "user"),
		Server: rapid.String().Draw(t, "server"), Transaction: rapid.String().Draw(t, "transaction"), TraceID: rapid.String().Draw(t, "trace"),
		Tags: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) errata.Tag {
			return errata.Tag{Key: rapid.String().Draw(t, "key"), Value: rapid.String().Draw(t, "value")}
		}), 0, errata.MaxTrailTags).Draw(t, "tags"),
	}
}

func TestTrailOfAnOlderEvent(t *testing.T) {
	const uuid = "fc6d8c0c43fc4630ad850ee518f1b9d0"
	for _, test := range []struct {
		name, payload string
		user          int64
		want          errata.Trail
	}{
		{"everything", `{"source":"sentry","event_id":"` + uuid + `","message":"m","exceptions":[{"class":"E","frames":[{"file":"a"}]}],
			"user":"u-77","tags":{"feature":"check\u006fut","os":"linux"},"server_name":"web-1","trace_id":"4bf9","transaction":"GET /","extra":{"user":"x"}}`, 0,
			errata.Trail{ClientID: uuid, User: "u-77", Server: "web-1", Transaction: "GET /", TraceID: "4bf9", Tags: []errata.Tag{{Key: "feature", Value: "checkout"}, {Key: "os", Value: "linux"}}}},
		{"a number as user stands beside the payload", `{"source":"native"}`, 1204, errata.Trail{User: "1204"}},
		{"a negative number is nobody", `{}`, -1, errata.Trail{}},
		{"the user of the payload counts first", `{"user":"u-77"}`, 5, errata.Trail{User: "u-77"}},
		{"an id with dashes", `{"event_id":"FC6D8C0C-43FC-4630-AD85-0EE518F1B9D0"}`, 0, errata.Trail{ClientID: uuid}},
		{"an id in capitals", `{"event_id":"FC6D8C0C43FC4630AD850EE518F1B9D0"}`, 0, errata.Trail{ClientID: uuid}},
		{"an id that is none", `{"event_id":"FC6D8C0C-43FC-4630-AD85-0EE518F1B9DX"}`, 0, errata.Trail{ClientID: "FC6D8C0C-43FC-4630-AD85-0EE518F1B9DX"}},
		{"an id with dashes elsewhere", `{"event_id":"FC6D8C0C4-3FC-4630-AD85-0EE518F1B9D0"}`, 0, errata.Trail{ClientID: "FC6D8C0C4-3FC-4630-AD85-0EE518F1B9D0"}},
		{"other types", `{"event_id":7,"user":{"user":"x"},"tags":{"a":1,"b":{"c":"d"},"e":"f","g":"","e":"again"},"server_name":null}`, 0,
			errata.Trail{Tags: []errata.Tag{{Key: "e", Value: "f"}}}},
		{"tags that are no object", `{"tags":["a","b"],"user":"u"}`, 0, errata.Trail{User: "u"}},
		{"half a payload", `{"user":"u","tags":{"a":"b"`, 0, errata.Trail{}},
		{"no payload", ``, 7, errata.Trail{User: "7"}},
	} {
		for _, form := range []int{deployed, older} {
			t.Run(fmt.Sprint(test.name, form), func(t *testing.T) {
				e := errata.Event{Book: errata.BookSystem, UserID: test.user, Payload: []byte(test.payload), Trail: errata.Trail{User: "lost", Tags: []errata.Tag{{}}}}
				o := encoded(t, e, form).Origin()
				if got := o.Trail(); !cmp.Equal(test.want, got) {
					t.Error(cmp.Diff(test.want, got))
				}
			})
		}
	}
}

// TestTagsOfAnOlderEvent: as many as an occurrence has, in the order of the payload.
func TestTagsOfAnOlderEvent(t *testing.T) {
	tags := make([]string, 100)
	for i := range tags {
		tags[i] = fmt.Sprintf(`"k%d":"v%[1]d"`, i)
	}
	o := originInPayload([]byte(`{"tags":{"old":"x"},"tags":{`+strings.Join(tags, ",")+`}}`), 0)
	i := 0
	o.Tags.Each(func(key, value []byte) {
		if string(key) != fmt.Sprint("k", i) || string(value) != fmt.Sprint("v", i) {
			t.Errorf("tag %d is %s: %s", i, key, value)
		}
		i++
	})
	if i != errata.MaxTrailTags || o.Tags.Len() != i {
		t.Errorf("%d tags, and %d are told", i, o.Tags.Len())
	}
}

// TestBehindTheTrail: an event to which a newer version has added something is read
// as without that. What is too much in the section itself is refused.
func TestBehindTheTrail(t *testing.T) {
	e := goldenEvents()[0]
	entry := encoded(t, e, today)
	plain := entry.Origin()
	entry.body = append(entry.body, "of a newer version"...)
	if ev, err := entry.Event(); err != nil || !cmp.Equal(e, ev, eventOptions) {
		t.Error(cmp.Diff(e, ev, eventOptions), err)
	}
	if o := entry.Origin(); !cmp.Equal(plain, o, cmp.AllowUnexported(TagList{})) {
		t.Errorf("the origin is %+v", o)
	}
	size := len(appendTrail(nil, &e.Trail))
	entry = encoded(t, e, today)
	putLength(entry.body[len(entry.body)-size:], size-lengthSize+1)
	entry.body = append(entry.body, 0)
	if ev, err := entry.Event(); err == nil {
		t.Errorf("read as %+v", ev)
	}
	if o := entry.Origin(); o.Project != 0 {
		t.Errorf("the origin is %+v", o)
	}
}

// TestTooManyTagsAreRefused: a number of tags that cannot be is no reason to count up
// to it.
func TestTooManyTagsAreRefused(t *testing.T) {
	for _, n := range []string{"\x03", "\xff\xff\xff\xff\xff\xff\xff\xff\x7f"} {
		s := skipper{rest: []byte(n + "\x01a\x01b\x01c\x01d")}
		if l := s.tags(); !s.failed || l.Len() != 0 {
			t.Errorf("%q: %d tags", n, l.Len())
		}
	}
}

// TestLargestEvent: an event whose fields are all as long as ingest lets them be fits
// onto the log.
func TestLargestEvent(t *testing.T) {
	text := func(n int) string { return strings.Repeat("x", n) }
	e := errata.Event{
		File: text(512), Message: text(4 * 200), Class: text(128), URI: text(2048), Method: text(16), Payload: make([]byte, 192<<10),
		Environment: text(256), Release: text(256),
		Trail: errata.Trail{ClientID: text(200), User: text(200), Server: text(256), Transaction: text(256), TraceID: text(256)},
	}
	for range errata.MaxTrailTags {
		e.Trail.Tags = append(e.Trail.Tags, errata.Tag{Key: text(200), Value: text(200)})
	}
	if _, err := appendEvent(nil, &e); err != nil {
		t.Error(err)
	}
	e.Trail.User = text(MaxEventSize)
	if _, err := appendEvent(nil, &e); err != ErrEventTooLarge {
		t.Errorf("too long a trail: %v", err)
	}
}

// TestOriginDoesNotAllocate: the fold does it for each event.
func TestOriginDoesNotAllocate(t *testing.T) {
	entry := encoded(t, goldenEvents()[0], today)
	tags := 0
	if n := testing.AllocsPerRun(100, func() {
		o := entry.Origin()
		o.Tags.Each(func(key, value []byte) { tags += len(key) + len(value) })
	}); n != 0 || tags == 0 {
		t.Errorf("%v allocations, %d bytes of tags", n, tags)
	}
}

func BenchmarkOrigin(b *testing.B) {
	raw, err := appendEvent(nil, &goldenEvents()[0])
	if err != nil {
		b.Fatal(err)
	}
	entry, _, err := parseEntry(errata.EventID{}, raw)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		_ = entry.Origin()
	}
}

// FuzzOrigin: any bytes behind the head of an event are read or refused alike by
// Event and by Origin.
func FuzzOrigin(f *testing.F) {
	for _, e := range goldenEvents() {
		raw, err := appendEvent(nil, &e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw[lengthSize+eventHead:])
	}
	f.Fuzz(func(t *testing.T, behind []byte) {
		entry := Entry{Book: errata.BookSystem, body: append(make([]byte, eventHead), behind...)}
		o := entry.Origin()
		ev, err := entry.Event()
		if err != nil {
			return // Origin does not check the values of what it skips
		}
		if !cmp.Equal(o.Trail(), ev.Trail) || o.Project != ev.Project || string(o.Class) != ev.Class {
			t.Errorf("the origin is %+v, the event %+v", o, ev)
		}
		if len(o.Tags.raw) > 0 && o.Tags.Len() == 0 {
			t.Errorf("no tags in %q", o.Tags.raw)
		}
	})
}

// FuzzPayload: any payload of an older event is read, and a valid object as
// encoding/json reads it.
func FuzzPayload(f *testing.F) {
	f.Add([]byte(`{"environment":"a","release":"b","user":"c","server_name":"d","transaction":"e","trace_id":"f","tags":{"g":"h"}}`))
	f.Add([]byte(`{"environment":"\ud800","release":"\`))
	f.Add([]byte(`{"release":["x"],"release":"y"`))
	f.Add([]byte(`{"tags":{"a":"b","a":7,"c":`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		o := originInPayload(payload, 0)
		var want map[string]any
		if !utf8.Valid(payload) || json.Unmarshal(payload, &want) != nil || payload[0] != '{' {
			return
		}
		for key, got := range map[string][]byte{
			"environment": o.Environment, "release": o.Release, "user": o.User, "server_name": o.Server, "transaction": o.Transaction, "trace_id": o.TraceID,
		} {
			// A half of a pair of surrogates has no one meaning.
			if text, ok := want[key].(string); ok && text != string(got) && !strings.ContainsRune(text, utf8.RuneError) {
				t.Errorf("%s of %s is %q, want %q", key, payload, got, text)
			}
		}
	})
}
