package standby

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	errata "github.com/errata-log/errata"
)

var errGone = errors.New("gone")

// board keeps alarms for a test.
type board struct {
	mu     sync.Mutex
	detail string
}

func (b *board) Raise(_, detail, _ string) { b.mu.Lock(); b.detail = detail; b.mu.Unlock() }
func (b *board) Clear(string)              { b.mu.Lock(); b.detail = ""; b.mu.Unlock() }
func (b *board) read() string              { b.mu.Lock(); defer b.mu.Unlock(); return b.detail }

func configOf(b *board, try func(context.Context) error) Config {
	return Config{Steps: []func(context.Context) error{try}, Away: func(err error) bool { return errors.Is(err, errGone) }, Alarms: b, Logger: slog.New(slog.DiscardHandler)}
}

func TestPhase(t *testing.T) {
	b := &board{}
	answers := make(chan error)
	tries := 0
	p, err := Start(t.Context(), configOf(b, func(ctx context.Context) error {
		if tries++; tries == 1 {
			return errGone
		}
		select {
		case err := <-answers:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}))
	if err != nil || p.Up() {
		t.Fatalf("it is up: %t, error %v; want neither", p.Up(), err)
	}
	if told := p.Err(); errata.KindOf(told) != errata.KindStoreUnavailable || !errors.Is(told, errGone) {
		t.Errorf("whoever asks is told %v", told)
	}
	if !strings.Contains(b.read(), "does not answer") {
		t.Errorf("the alarm says %q", b.read())
	}
	waited, late := false, false
	p.WhenUp(func() { waited = true })
	answers <- errors.New("a newer schema")
	answers <- errGone // so the phase has handled the answer before
	answers <- errors.New("a newer schema")
	answers <- nil
	<-p.up
	if err := p.Stop(t.Context()); err != nil { // so all functions were called
		t.Error(err)
	}
	if !p.Up() || p.Err() != nil || b.read() != "" {
		t.Errorf("up %t, error %v, alarm %q; want it up without an alarm", p.Up(), p.Err(), b.read())
	}
	p.WhenUp(func() { late = true })
	if !waited || !late {
		t.Errorf("of those who wait for it, one was told %t and a late one %t", waited, late)
	}
	if err := errors.Join(p.Stop(t.Context()), p.Stop(t.Context())); err != nil {
		t.Error(err)
	}
}

// Damaged files do not end a start, at the first try or later: the function that
// mends them is called once, and the steps are tried again.
func TestPhaseMeetsDamage(t *testing.T) {
	errDamaged := errors.New("checksum does not match")
	for name, first := range map[string]error{"at once": errDamaged, "after it was away": errGone} {
		t.Run(name, func(t *testing.T) {
			b := &board{}
			answers := make(chan error)
			tries := 0
			cfg := configOf(b, func(ctx context.Context) error {
				if tries++; tries == 1 {
					return first
				}
				select {
				case err := <-answers:
					return err
				case <-ctx.Done():
					return ctx.Err()
				}
			})
			cfg.Damaged = func(err error) bool { return errors.Is(err, errDamaged) }
			p, err := Start(t.Context(), cfg)
			if err != nil || p.Up() {
				t.Fatalf("it is up: %t, error %v; want neither", p.Up(), err)
			}
			mending := 0
			p.WhenUpOrDamaged(func() { mending++ })
			for range 3 { // the last one is handled before the next answer
				answers <- errDamaged
			}
			if told := p.Err(); !strings.Contains(told.Error(), "are being mended") || !strings.Contains(b.read(), "cannot read its files") {
				t.Errorf("whoever asks is told %v, the alarm says %q", told, b.read())
			}
			answers <- nil
			<-p.up
			if err := p.Stop(t.Context()); err != nil { // so all functions were called
				t.Error(err)
			}
			if !p.Up() || b.read() != "" || mending != 1 {
				t.Errorf("up %t, alarm %q, mending was begun %d times", p.Up(), b.read(), mending)
			}
		})
	}
}

func TestPhaseEnds(t *testing.T) {
	b := &board{}
	wrong := errors.New("a wrong password")
	if _, err := Start(t.Context(), configOf(b, func(context.Context) error { return wrong })); !errors.Is(err, wrong) || b.read() != "" {
		t.Errorf("error %v, alarm %q; want the error alone", err, b.read())
	}
	first := true
	p, err := Start(t.Context(), configOf(b, func(ctx context.Context) error {
		if first {
			first = false
			return errGone
		}
		<-ctx.Done()
		return ctx.Err()
	}))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(t.Context()); err != nil || p.Up() {
		t.Errorf("stopped in the middle: error %v, up %t", err, p.Up())
	}
}

func TestMark(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.mark")
	if m, err := ReadMark(path); err != nil || m != (Mark{}) {
		t.Errorf("without a file: %v, error %v", m, err)
	}
	want := Mark{Log: 7, Last: 9}
	m, err := OpenMark(t.Context(), MarkConfig{
		File: path, Reach: func(context.Context) (Mark, error) { return want, nil }, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	m.keep()
	if err := m.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadMark(path); err != nil || got != want {
		t.Errorf("read %v, error %v, want %v", got, err, want)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadMark(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a damaged mark: %v, want an error that names the file", err)
	}
}

// TestSteps: after an error all steps are done again, after damage the step that
// found it and those after it.
func TestSteps(t *testing.T) {
	errDamaged := errors.New("checksum does not match")
	var done []string
	answers := []error{nil, errGone, nil, errDamaged, errDamaged, nil, nil}
	step := func(name string) func(context.Context) error {
		return func(context.Context) error {
			done = append(done, name)
			err := answers[0]
			answers = answers[1:]
			return err
		}
	}
	cfg := configOf(&board{}, nil)
	cfg.Steps = []func(context.Context) error{step("hold"), step("read"), step("write")}
	cfg.Damaged = func(err error) bool { return errors.Is(err, errDamaged) }
	cfg.Begin = func() { done = append(done, "begin") }
	p, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	<-p.up
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(done, " "); got != "hold read hold read read read write begin" {
		t.Errorf("it did %q", got)
	}
}

// TestOlderLog: a log that was restored is filled up to its mark while ClickHouse
// is away. Without a mark, sequences that are used twice raise an alarm.
func TestOlderLog(t *testing.T) {
	for _, c := range []struct {
		name, mark, filled, alarm string
		folded                    uint64
	}{
		{"as long as it was", `{"log":7,"last":9}`, "", "", 9},
		{"shorter", `{"log":7,"last":12}`, "10-12", "", 12},
		{"shorter than the records", `{"log":7,"last":12}`, "10-12", "facts 13 to 20", 20},
		{"of nobody", "", "", "facts 10 to 12", 12},
		{"another log", `{"log":6,"last":12}`, "", "", 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, path, filled := &board{}, filepath.Join(t.TempDir(), "log.mark"), ""
			if c.mark != "" {
				if err := os.WriteFile(path, []byte(c.mark), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			m, err := OpenMark(t.Context(), MarkConfig{
				File: path, Reach: func(context.Context) (Mark, error) { return Mark{Log: 7, Last: 9}, nil },
				Fill:   func(_ context.Context, from, to uint64) error { filled = fmt.Sprintf("%d-%d", from, to); return nil },
				Folded: func() uint64 { return c.folded }, Alarms: b, Logger: slog.New(slog.DiscardHandler),
			})
			if err != nil {
				t.Fatal(err)
			}
			first, may := true, make(chan struct{})
			cfg := configOf(&board{}, func(context.Context) error {
				if first {
					first = false
					return errGone
				}
				<-may
				return nil
			})
			cfg.Mark = m
			p, err := Start(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			close(may)
			<-p.up
			if err := errors.Join(m.Stop(t.Context()), p.Stop(t.Context())); err != nil {
				t.Fatal(err)
			}
			if filled != c.filled || c.alarm == "" && b.read() != "" || !strings.Contains(b.read(), c.alarm) {
				t.Errorf("filled %q, want %q; the alarm says %q, want %q", filled, c.filled, b.read(), c.alarm)
			}
		})
	}
}
