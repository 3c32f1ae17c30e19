package main

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/errata-log/errata/audit"
)

// hostile are texts that would change a terminal: colours, the title, a line over
// another one, C1 controls, direction marks.
var hostile = []string{
	"\x1b[31mred", "\x1b]0;title\x07", "gone\r\x1b[2Kfine", "a\nb\tc", "\u009b31m", "\x7f\b\b", "abc\u202edcba", "\u2066x\u2069", "\xff\x9b1m", "\U000e0041",
	"\u200b", "\u2028",
}

// unsafe is the first character of text that may not stand on a terminal.
func unsafe(text string) (bad rune, found bool) {
	for _, r := range text {
		if r != '\n' && !unicode.IsPrint(r) {
			return r, true
		}
	}
	return 0, false
}

func TestPrinted(t *testing.T) {
	for text, want := range map[string]string{
		"plain, ümläut, 漢字, 🙂": "plain, ümläut, 漢字, 🙂", "\x1b[31m": `\x1b[31m`, "a\nb": `a\nb`, "\u009b1m": `\u009b1m`, "\u00a0x": " x", "\xff": "\uFFFD",
		"\u202e": `\u202e`, "": "",
	} {
		if got := printed(text); got != want {
			t.Errorf("printed(%q) is %q, want %q", text, got, want)
		}
	}
}

func TestPrintedJSONMeansTheSame(t *testing.T) {
	for _, text := range append(hostile, `"\`, "🙂漢\u00a0") {
		text = strings.ToValidUTF8(text, "?")
		var out strings.Builder
		if err := printJSON(&out, []string{text}); err != nil {
			t.Fatal(err)
		}
		if bad, found := unsafe(strings.ReplaceAll(out.String(), "\u00a0", "")); found {
			t.Errorf("%q: the output has %U", text, bad)
		}
		var back []string
		if err := json.Unmarshal([]byte(out.String()), &back); err != nil || len(back) != 1 || back[0] != text {
			t.Errorf("%q comes back as %q, %v", text, back, err)
		}
	}
}

func TestCutTo(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"abcdef", 6, "abcdef"}, {"abcdef", 5, "abcd…"}, {"abcdef", 0, "abcdef"}, {"漢字漢字", 8, "漢字漢字"}, {"漢字漢字", 6, "漢字…"}, {"漢字漢字", 5, "漢字…"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"}, {"abc", 1, "…"},
	} {
		if got := cutTo(c.text, c.most); got != c.want {
			t.Errorf("cutTo(%q, %d) is %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

// TestTablesFit: no line is wider than the terminal, and no text can change it.
func TestTablesFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom(hostile))
		record := rapid.Custom(func(t *rapid.T) apiRecord {
			return apiRecord{
				Type: "database", Signature: strings.Repeat("0", 32), Level: text.Draw(t, "level"), Count: rapid.Uint64().Draw(t, "count"),
				Message: text.Draw(t, "message"), Class: text.Draw(t, "class"), Project: text.Draw(t, "project"), File: text.Draw(t, "file"), LastSeen: text.Draw(t, "seen"),
			}
		})
		records := rapid.SliceOfN(record, 0, 4).Draw(t, "records")
		width := rapid.IntRange(0, 200).Draw(t, "width")
		var out strings.Builder
		if err := printRecords(&out, width, records); err != nil {
			t.Fatal(err)
		}
		if bad, found := unsafe(out.String()); found {
			t.Fatalf("the table has %U:\n%s", bad, out.String())
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if len(lines) != len(records)+1 {
			t.Fatalf("%d lines of %d records", len(lines), len(records))
		}
		for _, line := range lines {
			if n := cells(line); width > 0 && n > width {
				t.Fatalf("a line of %d cells, want at most %d: %q", n, width, line)
			}
		}
	})
}

// TestTablesChangeNoTerminal: whatever names, reasons and rules hold, a list has one line for
// each thing, and nothing that a terminal obeys.
func TestTablesChangeNoTerminal(t *testing.T) {
	evil := strings.Join(hostile, "")
	project := apiProject{
		ID: 7, Slug: evil, Name: evil, Platform: evil, CreatedAt: evil, DSN: evil, Context: apiContext{Vars: evil},
		Noise: json.RawMessage(`[{"field":"class","match":"x\u001b[31m\ny","action":"drop\u001b"},{"set":"\u001b\n","action":"mute"}]`),
	}
	for name, c := range map[string]struct {
		lines int
		print func(w io.Writer) error
	}{
		"keys": {2, func(w io.Writer) error {
			return printKeys(w, 0, []apiKey{{ID: evil, Name: evil, Kind: evil, State: evil, Scopes: []string{evil}, LastUsedAt: evil, ExpiresAt: evil}})
		}},
		"dead": {2, func(w io.Writer) error {
			return printDead(w, 0, []deadMessage{{ID: 3, At: evil, Subject: evil, Reason: evil, Message: evil}})
		}},
		"projects list": {2, func(w io.Writer) error { return printProjects(w, 0, []apiProject{project}) }},
		"projects show": {14, func(w io.Writer) error { return printProject(w, project) }},
		"audit": {2, func(w io.Writer) error {
			return printAudit(w, []audit.Entry{{Action: evil, Actor: audit.Actor{KeyID: evil, KeyName: evil, IP: evil}, Request: json.RawMessage(evil)}})
		}},
	} {
		var out strings.Builder
		if err := c.print(&out); err != nil {
			t.Fatal(err)
		}
		if bad, found := unsafe(out.String()); found {
			t.Errorf("%s: the table has %U:\n%q", name, bad, out.String())
		}
		if n := strings.Count(out.String(), "\n"); n != c.lines {
			t.Errorf("%s: %d lines, want %d:\n%s", name, n, c.lines, out.String())
		}
	}
}
