package legacy

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door/doortest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// imported is the golden form of an entry: its event.
type imported struct {
	Offset  int64           `json:"offset"`
	Refused string          `json:"refused,omitempty"`
	Time    string          `json:"time,omitempty"`
	Level   string          `json:"level,omitempty"`
	Class   string          `json:"class,omitempty"`
	Message string          `json:"message,omitempty"`
	Place   string          `json:"place,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

var received = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

func converterAt(at time.Time) *converter {
	return &converter{
		rules: new(ingest.Rules), project: 1, book: errata.BookSystem, fileHash: "hash",
		changed: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), now: func() time.Time { return at },
	}
}

// sharedReader keeps its buffer of a megabyte for all of the small texts.
var sharedReader = newFramer(nil, 0).in

// framed cuts a text into batches.
func framed(t testing.TB, text []byte) (batches []*batch) {
	t.Helper()
	sharedReader.Reset(bytes.NewReader(text))
	f := &framer{in: sharedReader}
	for {
		b := newBatch()
		if err := f.fill(b); err != nil {
			t.Fatal(err)
		}
		batches = append(batches, b)
		if b.last {
			return batches
		}
	}
}

func describe(c *converter, text []byte, offset int64) imported {
	e, _, refused := c.event(text, offset, ingest.Source{Project: 1, Received: received, Archive: true}, nil)
	if refused != nil {
		return imported{Offset: offset, Refused: refused.Message}
	}
	return imported{
		Offset: offset, Time: e.Time.Format(time.RFC3339Nano), Level: e.Level.String(), Class: e.Class,
		Message: e.Message, Place: fmt.Sprintf("%s:%d", e.File, e.Line), Payload: e.Payload,
	}
}

func TestFormats(t *testing.T) {
	for _, name := range []string{"php.log", "monolog.log", "lines.jsonl"} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			c := converterAt(received)
			var got bytes.Buffer
			for _, b := range framed(t, text) {
				for _, e := range b.entries {
					line, err := json.MarshalIndent(describe(c, b.text[e.begin:e.end], e.offset), "", "  ")
					if err != nil {
						t.Fatal(err)
					}
					got.Write(append(line, '\n'))
				}
				fmt.Fprintf(&got, "lines %d, outside of entries %d\n", b.lines, b.unreadable)
			}
			path := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(path, got.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("differs from %s; look at it, then run with -update\n%s", path, got.Bytes())
			}
			if strings.Contains(got.String(), "secret-argument") {
				t.Error("an argument of a call was kept")
			}
		})
	}
}

// TestCutAnywhere reads every prefix of every file: no panic, every line counted,
// and all entries but the last two as in the whole file. The cut last line may look
// like an entry of its own and belong to the entry before it.
func TestCutAnywhere(t *testing.T) {
	for _, name := range []string{"php.log", "monolog.log", "lines.jsonl"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		whole := framed(t, text)[0]
		c := converterAt(received)
		for n := range text {
			cut := framed(t, text[:n])[0]
			lines := bytes.Count(text[:n], newline)
			if n > 0 && text[n-1] != '\n' {
				lines++
			}
			if cut.lines != int64(lines) || cut.end != int64(n) {
				t.Fatalf("%s[:%d]: %d lines up to %d, want %d", name, n, cut.lines, cut.end, lines)
			}
			for i, e := range cut.entries {
				if i >= len(cut.entries)-2 {
					describe(c, cut.text[e.begin:e.end], e.offset)
				} else if e.offset != whole.entries[i].offset || e.end != whole.entries[i].end {
					t.Fatalf("%s[:%d]: entry %d is %+v, in the whole file %+v", name, n, i, e, whole.entries[i])
				}
			}
		}
	}
}

// TestGoesOnAtEveryEntry: reading from any entry on finds the same entries.
func TestGoesOnAtEveryEntry(t *testing.T) {
	for _, name := range []string{"php.log", "monolog.log", "lines.jsonl"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		whole := framed(t, text)[0]
		for i, from := range whole.entries {
			f := newFramer(bytes.NewReader(text[from.offset:]), from.offset)
			rest := newBatch()
			if err := f.fill(rest); err != nil {
				t.Fatal(err)
			}
			if len(rest.entries) != len(whole.entries)-i {
				t.Fatalf("%s from entry %d: %d entries, want %d", name, i, len(rest.entries), len(whole.entries)-i)
			}
			if got, want := rest.lines+from.lines, whole.lines; got != want {
				t.Errorf("%s from entry %d: %d lines, want %d", name, i, got, want)
			}
			for k, e := range rest.entries {
				want := whole.entries[i+k]
				if e.offset != want.offset || !bytes.Equal(rest.text[e.begin:e.end], whole.text[want.begin:want.end]) {
					t.Fatalf("%s from entry %d: entry %d differs", name, i, k)
				}
			}
		}
	}
}

func TestFrames(t *testing.T) {
	long := strings.Repeat("x", maxLine+1)
	stamp := "[21-Nov-2026 03:58:25 UTC] "
	for what, c := range map[string]struct {
		text                       string
		entries, lines, unreadable int
	}{
		"nothing":                   {"", 0, 0, 0},
		"blank lines":               {"\n\r\n \n", 0, 3, 0},
		"no end of line":            {stamp + "a", 1, 1, 0},
		"CRLF":                      {stamp + "a\r\n" + stamp + "b\r\n", 2, 2, 0},
		"byte order mark":           {"\xef\xbb\xbf" + stamp + "a\n", 1, 1, 0},
		"a line too long":           {stamp + "a\n" + long + "\n" + stamp + "b\n", 2, 3, 1},
		"an entry too long":         {stamp + long + "\nits second line\n" + stamp + "b\n", 1, 3, 2},
		"too long at the end":       {stamp + "a\n" + long, 1, 2, 1},
		"JSON too long":             {"{\"a\":\"" + long + "\"}\n{\"msg\":1}\n", 1, 2, 1},
		"longest line":              {stamp + long[:maxLine-len(stamp)-1] + "\n", 1, 1, 0},
		"garbage":                   {"a\nb\nc\n", 0, 3, 3},
		"garbage behind JSON":       {"{\"msg\":1}\nb\nc\n", 1, 3, 2},
		"binary":                    {"\x00\x01\xff\xfe\n\x00", 0, 2, 2},
		"not a time":                {"[21-Nov-2026] a\n[x] b\n", 0, 2, 2},
		"without prefix":            {"Warning: a in /x.php on line 1\n", 1, 1, 0},
		"a label within a text":     {stamp + "a\nWarning: b\n", 1, 2, 0},
		"a PHP label within a text": {stamp + "a\nPHP Warning:  b\n", 2, 2, 0},
		"JSON behind a text":        {stamp + "a\n{\"msg\":\"b\"}\n", 2, 2, 0},
	} {
		var entries, lines, unreadable int
		for _, b := range framed(t, []byte(c.text)) {
			entries, lines, unreadable = entries+len(b.entries), lines+int(b.lines), unreadable+int(b.unreadable)
		}
		if entries != c.entries || lines != c.lines || unreadable != c.unreadable {
			t.Errorf("%s: %d entries, %d lines, %d unreadable, want %d, %d, %d", what, entries, lines, unreadable, c.entries, c.lines, c.unreadable)
		}
	}
}

func TestStamp(t *testing.T) {
	for text, want := range map[string]string{
		"[21-Nov-2026 03:58:25 UTC]":           "2026-11-21T03:58:25Z",
		"[21-Nov-2026 03:58:25]":               "2026-11-21T03:58:25Z",
		"[21-Jul-2026 03:58:25 Europe/Berlin]": "2026-07-21T01:58:25Z",
		"[21-Nov-2026 03:58:25.5 +01:00]":      "2026-11-21T02:58:25.5Z",
		"[21-Nov-2026 03:58:25 ../../etc/x]":   "2026-11-21T03:58:25Z",
		"[2026-11-21 03:58:25]":                "2026-11-21T03:58:25Z",
		"[2026-11-21T03:58:25.123456+01:00]":   "2026-11-21T02:58:25.123456Z",
		"[00-Nov-2026 03:58:25 UTC]":           "none",
		"[21-Now-2026 03:58:25 UTC]":           "none",
		"[21-anF-2026 03:58:25 UTC]":           "none",
		"[2026-13-21 03:58:25]":                "none",
		"[21/Nov/2026:03:58:25 +0000]":         "no stamp",
		"[21-Nov-2026 03:58:25 UTC":            "no stamp",
	} {
		got := "no stamp"
		if kind, end := stampOf([]byte(text)); kind != noStamp {
			got = "none"
			if at := stampTime(kind, text[1:end]); !at.IsZero() {
				got = at.Format(time.RFC3339Nano)
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// FuzzImportFile reads any bytes as a file: no panic, every line counted, every
// byte passed, entries in order and within the file.
func FuzzImportFile(f *testing.F) {
	for _, name := range []string{"php.log", "monolog.log", "lines.jsonl"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		for entry := range bytes.Lines(text) {
			f.Add(entry)
		}
	}
	f.Add([]byte("[21-Nov-2026 03:58:25 UTC] PHP Fatal error:  Uncaught : in :\nStack trace:\n\n\nNext in :1"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c := converterAt(received)
		offset, lines := int64(-1), int64(0)
		var end int64
		for _, b := range framed(t, text) {
			for _, e := range b.entries {
				if e.offset <= offset || e.offset >= int64(len(text)) || e.end < e.begin {
					t.Fatalf("entry %+v behind offset %d of %d", e, offset, len(text))
				}
				offset = e.offset
				got := describe(c, b.text[e.begin:e.end], e.offset)
				if got.Refused == "" && !json.Valid(got.Payload) {
					t.Fatalf("payload %s", got.Payload)
				}
			}
			lines, end = lines+b.lines, b.end
		}
		want := int64(bytes.Count(text, newline))
		if len(text) > 0 && text[len(text)-1] != '\n' {
			want++
		}
		if lines != want || end != int64(len(text)) {
			t.Fatalf("%d lines up to %d, want %d up to %d", lines, end, want, len(text))
		}
	})
}

func TestLongMessageIsWhole(t *testing.T) {
	asJSON := func(form string) func(message string) string {
		return func(message string) string {
			text, err := json.Marshal(message)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf(form, text)
		}
	}
	for name, c := range map[string]struct {
		lines bool
		entry func(message string) string
	}{
		"php": {true, func(m string) string { return "[21-Nov-2026 03:18:40 UTC] PHP Warning:  " + m + " in /a.php on line 1" }},
		"php, uncaught": {true, func(m string) string {
			return "[21-Nov-2026 03:18:40 UTC] PHP Fatal error:  Uncaught E: " + m + " in /a.php:1\nStack trace:\n#0 {main}\n  thrown in /a.php on line 1"
		}},
		"php, error_log":       {true, func(m string) string { return "[21-Nov-2026 03:18:40 UTC] " + m }},
		"monolog":              {false, func(m string) string { return "[2026-11-21T03:18:40+00:00] app.ERROR: " + m + " [] []" }},
		"json":                 {true, asJSON(`{"msg":%s,"level":"error"}`)},
		"json, error":          {false, asJSON(`{"level":"error","err":%s}`)},
		"json, error.message":  {true, asJSON(`{"level":"error","error.message":%s}`)},
		"json, exception":      {true, asJSON(`{"level":"error","exception":{"class":"E","message":%s}}`)},
		"json of our own form": {true, asJSON(`{"message":%s,"exception_class":"E"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			doortest.LongMessage(t, c.lines, func(message string) ingest.Draft {
				d, refused := Parse([]byte(c.entry(message)))
				if refused != nil {
					t.Fatal(refused)
				}
				return d
			})
		})
	}
}
