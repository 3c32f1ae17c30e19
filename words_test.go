package errata_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	errata "github.com/errata-log/errata"
)

func TestParseBook(t *testing.T) {
	for _, c := range []struct {
		name string
		want errata.Book
		ok   bool
	}{
		{"system", errata.BookSystem, true},
		{" Database ", errata.BookDatabase, true},
		{"SYSTEM", errata.BookSystem, true},
		{"", errata.BookUnknown, false},
		{"checkpoint", errata.BookUnknown, false},
		{"systems", errata.BookUnknown, false},
	} {
		if got, ok := errata.ParseBook(c.name); got != c.want || ok != c.ok {
			t.Errorf("ParseBook(%q) = %d, %v, want %d, %v", c.name, got, ok, c.want, c.ok)
		}
	}
	for _, b := range errata.Books {
		if got, ok := errata.ParseBook(b.String()); got != b || !ok {
			t.Errorf("book %d is %q, which reads as %d, %v", b, b, got, ok)
		}
	}
	// The numbers stand in the ClickHouse column.
	if errata.BookSystem != 1 || errata.BookDatabase != 2 || errata.BookUnknown.String() != "" || errata.Book(9).String() != "" {
		t.Error("the books' numbers or the name of an unknown book changed")
	}
}

func TestParseLevel(t *testing.T) {
	for _, c := range []struct {
		name string
		want errata.Level
		ok   bool
	}{
		{"debug", errata.LevelDebug, true}, {"trace", errata.LevelDebug, true}, {"verbose", errata.LevelDebug, true},
		{"info", errata.LevelInfo, true}, {"log", errata.LevelInfo, true},
		{"notice", errata.LevelNotice, true},
		{"WARN", errata.LevelWarning, true}, {" warning\n", errata.LevelWarning, true},
		{"error", errata.LevelError, true}, {"err", errata.LevelError, true}, {"severe", errata.LevelError, true},
		{"crit", errata.LevelCritical, true}, {"critical", errata.LevelCritical, true},
		{"fatal", errata.LevelFatal, true}, {"emergency", errata.LevelFatal, true}, {"alert", errata.LevelFatal, true}, {"panic", errata.LevelFatal, true},
		{"", errata.LevelUnknown, false}, {"bad", errata.LevelUnknown, false}, {"errors", errata.LevelUnknown, false}, {"50", errata.LevelUnknown, false},
	} {
		if got, ok := errata.ParseLevel(c.name); got != c.want || ok != c.ok {
			t.Errorf("ParseLevel(%q) = %v, %v, want %v, %v", c.name, got, ok, c.want, c.ok)
		}
	}
	for i, name := range errata.Levels {
		l := errata.Level(i + 1)
		if got, ok := errata.ParseLevel(name); got != l || !ok || l.String() != name {
			t.Errorf("level %d: %q, read as %v, %v", l, l, got, ok)
		}
	}
	if errata.LevelUnknown.String() != "" || errata.Level(200).String() != "" {
		t.Error("an unknown level has a name")
	}
	if errata.LevelDebug >= errata.LevelWarning || errata.LevelWarning >= errata.LevelFatal {
		t.Error("levels are not ordered from the mildest to the gravest")
	}
}

// TestEventIDGolden freezes the ids: after an upgrade, a resend must have the same
// id.
func TestEventIDGolden(t *testing.T) {
	for _, c := range []struct {
		project  uint64
		clientID string
		want     string
	}{
		{7, "6dc715abb89b4f6694ff46ae15f7dfb8", "71c233655fb933d7d451c5eb3f5872c9"},
		{8, "6dc715abb89b4f6694ff46ae15f7dfb8", "0ccecc6416878c74401f28c56d3694f4"},
		{7, "", "d1b1122ca5c9dfb9ff31124e1c5a9d00"},
	} {
		if got := errata.NewEventID(c.project, c.clientID).String(); got != c.want {
			t.Errorf("NewEventID(%d, %q) = %s, want %s", c.project, c.clientID, got, c.want)
		}
	}
}

func TestPosition(t *testing.T) {
	for _, c := range []struct {
		seq   uint64
		index int
		want  errata.Position
	}{
		{0, 0, 0}, {1, 0, 8192}, {1, 8191, 16383}, {2, 0, 16384}, {1<<40 - 1, 8191, 1<<53 - 1},
	} {
		got := errata.PositionOf(c.seq, c.index)
		if got != c.want || got.Sequence() != c.seq {
			t.Errorf("PositionOf(%d, %d) = %d of sequence %d, want %d", c.seq, c.index, got, got.Sequence(), c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	e := errata.Errorf(errata.KindLogFull, "the log is full; free %d MB", 5)
	with := e.Because(io.ErrUnexpectedEOF)
	wrapped := fmt.Errorf("append block: %w", with)
	for _, c := range []struct{ name, got, want string }{
		{"text", e.Error(), "log_full: the log is full; free 5 MB"},
		{"text with cause", with.Error(), "log_full: the log is full; free 5 MB: unexpected EOF"},
		{"kind through a wrap", string(errata.KindOf(wrapped)), "log_full"},
		{"kind of a stranger", string(errata.KindOf(io.EOF)), "internal"},
		{"kind of nil", string(errata.KindOf(nil)), "internal"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
	if !errors.Is(wrapped, io.ErrUnexpectedEOF) {
		t.Error("the cause is not in the chain")
	}
	if e.Err != nil {
		t.Error("Because changed the error it was called on")
	}
}

func TestOptional(t *testing.T) {
	var left errata.Optional[string]
	if value, sent := left.Get(); sent || value != "" || left.Or("stays") != "stays" {
		t.Errorf("left out: %q, %v, %q", value, sent, left.Or("stays"))
	}
	empty := errata.Sent("")
	if value, sent := empty.Get(); !sent || value != "" || empty.Or("stays") != "" {
		t.Errorf("sent empty: %q, %v, %q", value, sent, empty.Or("stays"))
	}
}
