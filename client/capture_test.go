package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/errata-log/errata/client"
)

type stockError struct{ article string }

func (e *stockError) Error() string { return "out of " + e.article }

type orderError struct {
	number int
	cause  error
}

func (e *orderError) Error() string { return fmt.Sprintf("order %d: %v", e.number, e.cause) }
func (e *orderError) Unwrap() error { return e.cause }

// nilError panics when it is nil.
type nilError struct{ text string }

func (e *nilError) Error() string { return e.text }

// wild panics in every method.
type wild struct{}

func (wild) Error() string                { panic("wild") }
func (wild) Unwrap() error                { panic("wild") }
func (wild) MarshalJSON() ([]byte, error) { panic("wild") }

// loop wraps itself.
type loop struct{}

func (loop) Error() string   { return "loop" }
func (l loop) Unwrap() error { return l }

// line is the line of its caller.
func line() int {
	_, _, line, _ := runtime.Caller(1)
	return line
}

func TestClassIsThatOfTheDeepestErrorThatHasOne(t *testing.T) {
	tea := &stockError{"tea"}
	for _, c := range []struct {
		name  string
		err   error
		class string
		chain string // depth and class of each
	}{
		{"plain", errPlain, "*errors.errorString", "0 *errors.errorString"},
		{"typed", tea, "*client_test.stockError", "0 *client_test.stockError"},
		{"wrapped words", fmt.Errorf("a: %w", fmt.Errorf("b: %w", errPlain)), "*errors.errorString", "0 *fmt.wrapError, 1 *fmt.wrapError, 2 *errors.errorString"},
		{"wrapped type", fmt.Errorf("reserve: %w", tea), "*client_test.stockError", "0 *fmt.wrapError, 1 *client_test.stockError"},
		{"type in a type", &orderError{7, fmt.Errorf("x: %w", tea)}, "*client_test.stockError", "0 *client_test.orderError, 1 *fmt.wrapError, 2 *client_test.stockError"},
		{"type around words", &orderError{7, io.ErrUnexpectedEOF}, "*client_test.orderError", "0 *client_test.orderError, 1 *errors.errorString"},
		{"joined", errors.Join(errPlain, tea, &orderError{7, errPlain}), "*client_test.stockError",
			"0 *errors.joinError, 1 *errors.errorString, 1 *client_test.stockError, 1 *client_test.orderError, 2 *errors.errorString"},
		{"two %w", fmt.Errorf("%w and %w", errPlain, tea), "*client_test.stockError", "0 *fmt.wrapErrors, 1 *errors.errorString, 1 *client_test.stockError"},
		{"a number of the system", &fs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}, "*fs.PathError", "0 *fs.PathError, 1 syscall.Errno"},
		{"a nil of a type", (*nilError)(nil), "*client_test.nilError", "0 *client_test.nilError"},
		{"wild", wild{}, "client_test.wild", "0 client_test.wild"},
		{"a loop", loop{}, "client_test.loop", strings.TrimSuffix(func() (all string) {
			for i := range 32 {
				all += fmt.Sprintf("%d client_test.loop, ", i)
			}
			return all
		}(), ", ")},
	} {
		got := captured(t, func(l *client.Client) { l.Capture(t.Context(), c.err) })
		var chain []string
		for _, link := range got.Payload["chain"].([]any) {
			link := link.(map[string]any)
			chain = append(chain, fmt.Sprint(link["depth"], " ", link["class"]))
		}
		if got.ExceptionClass != c.class || strings.Join(chain, ", ") != c.chain {
			t.Errorf("%s: class %s, chain %s; want %s, %s", c.name, got.ExceptionClass, strings.Join(chain, ", "), c.class, c.chain)
		}
	}
}

func TestEveryField(t *testing.T) {
	r := httptest.NewRequest("POST", "/checkout?page=2", nil)
	before := time.Now().UTC()
	var id string
	at := 0
	got := captured(t, func(c *client.Client) {
		ctx := client.NewContext(t.Context(), client.WithRequest(r), client.With("tenant", "acme"))
		ctx = client.NewContext(ctx, client.WithUser("1204"), client.With("step", 1))
		at = line() + 1
		id = c.Capture(ctx, fmt.Errorf("reserve: %w", &stockError{"tea"}),
			client.With("step", 2), client.WithType("database"), client.WithLevel(client.LevelWarning), client.WithTemplate("reserve: out of %s"),
			client.WithFingerprint("a", "b"), client.WithIP("203.0.113.9"), client.With("chain", "mine"))
	}, func(o *client.Options) { o.Release, o.Environment, o.ServerName = "1.4.2", "production", "web-1" })

	want := sent{
		ID: id, Time: got.Time, Type: "database", Level: "warning", Message: "reserve: out of tea", Template: "reserve: out of %s",
		ExceptionClass: "*client_test.stockError", File: "client/capture_test.go", Line: at,
		RequestURI: "/checkout?page=2", RequestMethod: "POST", UserID: "1204", IP: "203.0.113.9", Fingerprint: []string{"a", "b"},
		Frames: got.Frames,
		Payload: map[string]any{
			"release": "1.4.2", "environment": "production", "server_name": "web-1", "sdk": "errata-go/1", "handled": true,
			"tenant": "acme", "step": 2.0, "extra.chain": "mine",
			"chain": []any{
				map[string]any{"class": "*fmt.wrapError", "message": "reserve: out of tea", "depth": 0.0},
				map[string]any{"class": "*client_test.stockError", "message": "out of tea", "depth": 1.0},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(id) != 32 || got.Time.Before(before) || got.Time.After(time.Now()) || got.Time.Location() != time.UTC {
		t.Errorf("id %q at %v", id, got.Time)
	}
}

//go:noinline
func inner(c *client.Client) { c.Capture(context.Background(), errPlain) }

func TestFramesSayWhichAreTheApplications(t *testing.T) {
	got := captured(t, func(c *client.Client) { slices.SortFunc([]int{1, 2}, func(int, int) int { inner(c); return 0 }) })
	last := got.Frames[len(got.Frames)-1]
	if last.Function != "inner" || last.File != "client/capture_test.go" || last.Module != "github.com/errata-log/errata/client_test" || !last.InApp {
		t.Errorf("the last frame is %+v", last)
	}
	modules := map[string]bool{}
	for _, f := range got.Frames {
		modules[f.Module] = true
		if f.InApp != strings.HasPrefix(f.Module, "github.com/errata-log/errata") || f.Line == 0 || f.File == "" || strings.HasPrefix(f.File, "/") {
			t.Errorf("frame %+v", f)
		}
	}
	if !modules["slices"] || !modules["testing"] || modules["runtime"] {
		t.Errorf("modules %v", modules)
	}
	// Deep stacks keep the calls nearest to the error.
	var dive func(c *client.Client, n int)
	dive = func(c *client.Client, n int) {
		if n == 0 {
			inner(c)
			return
		}
		dive(c, n-1)
	}
	got = captured(t, func(c *client.Client) { dive(c, 500) })
	if len(got.Frames) != 50 || got.Frames[49].Function != "inner" {
		t.Errorf("%d frames, the last %+v", len(got.Frames), got.Frames[len(got.Frames)-1])
	}
	// A caller can say which code is its own.
	got = captured(t, inner, func(o *client.Options) { o.InApp = []string{"testing"} })
	if got.File != "testing/testing.go" {
		t.Errorf("with other code of its own: %s", got.File)
	}
}

// traced has the stack of the place where it was made.
type traced struct{ pcs []uintptr }

func (traced) Error() string        { return "traced" }
func (e traced) Callers() []uintptr { return e.pcs }

// tracedToo does as github.com/pkg/errors does.
type tracedToo struct{ pcs []programCounter }

type programCounter uintptr

func (tracedToo) Error() string                  { return "traced too" }
func (e tracedToo) StackTrace() []programCounter { return e.pcs }

func TestAnErrorsOwnStackIsBetter(t *testing.T) {
	var pcs [8]uintptr
	at := line() + 1
	n := runtime.Callers(1, pcs[:])
	var too []programCounter
	for _, pc := range pcs[:n] {
		too = append(too, programCounter(pc))
	}
	for _, err := range []error{traced{pcs[:n]}, tracedToo{too}} {
		got := captured(t, func(c *client.Client) { inner2(c, fmt.Errorf("later: %w", err)) })
		if got.File != "client/capture_test.go" || got.Line != at {
			t.Errorf("%v: %s:%d, want line %d", err, got.File, got.Line, at)
		}
	}
}

func inner2(c *client.Client, err error) { c.Capture(context.Background(), err) }

func TestMessage(t *testing.T) {
	at := 0
	got := captured(t, func(c *client.Client) {
		at = line() + 1
		c.CaptureMessage(t.Context(), "queue is full")
	})
	if got.Message != "queue is full" || got.Level != "info" || got.ExceptionClass != "" || got.File != "client/capture_test.go" || got.Line != at || got.Payload["chain"] != nil {
		t.Errorf("%+v", got)
	}
}

func TestValuesOfEveryKind(t *testing.T) {
	type order struct {
		Number int `json:"number"`
	}
	cycle := map[string]any{}
	cycle["self"] = cycle
	want := map[string]any{}
	values := map[string]any{}
	for _, v := range []struct {
		name         string
		value, wants any
	}{
		{"number", 42, 42.0}, {"nil", nil, nil}, {"text", "x", "x"}, {"bytes", []byte("secret"), "6 bytes"},
		{"nan", math.NaN(), "NaN"}, {"duration", 1500 * time.Millisecond, "1.5s"}, {"error", errPlain, "plain"},
		{"time", time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC), "2026-11-21T03:00:00Z"},
		{"object", order{7}, map[string]any{"number": 7.0}}, {"list", []int{1, 2}, []any{1.0, 2.0}},
		{"channel", make(chan int), "chan int, which is no JSON"}, {"cycle", cycle, "map[string]interface {}, which is no JSON"},
		{"large", make([]int, 10_000), "[]int, 20001 bytes of JSON"}, {"wild", wild{}, "client_test.wild, which cannot be shown"},
		{"invalid", "a\xffb", "a\ufffdb"},
	} {
		values[v.name], want[v.name] = v.value, v.wants
	}
	got := captured(t, func(c *client.Client) {
		var opts []client.EventOption
		for name, value := range values {
			opts = append(opts, client.With(name, value))
		}
		c.CaptureMessage(t.Context(), "m", opts...)
	})
	delete(got.Payload, "sdk")
	if diff := cmp.Diff(want, got.Payload); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTooMuchIsLeftOut(t *testing.T) {
	got := captured(t, func(c *client.Client) {
		var opts []client.EventOption
		for i := range 10 {
			opts = append(opts, client.With(fmt.Sprint("v", i), strings.Repeat("x", 8<<10)))
		}
		c.Capture(t.Context(), errors.New(strings.Repeat("ü", 1<<20)), opts...)
	})
	if len(got.Message) > 66<<10 || !strings.HasSuffix(got.Message, "ü") || got.Payload["v1"] != nil || got.Payload["chain"] == nil || got.Payload["extra_left_out"] == nil {
		t.Errorf("message of %d bytes, payload %v", len(got.Message), got.Payload)
	}
}

func TestBeforeSend(t *testing.T) {
	r := &recorder{}
	c := newClient(t, r, func(o *client.Options) {
		o.BeforeSend = func(e *client.Event) *client.Event {
			switch {
			case errors.Is(e.Err, os.ErrNotExist):
				return nil
			case errors.Is(e.Err, os.ErrClosed):
				panic("a bug in the hook")
			}
			e.Message, e.ID = "changed", "other"
			delete(e.Extra, "secret")
			return e
		}
	})
	c.Capture(t.Context(), fmt.Errorf("x: %w", os.ErrNotExist))
	c.Capture(t.Context(), os.ErrClosed)
	id := c.Capture(t.Context(), errPlain, client.With("secret", "s"))
	flush(t, c)
	got := r.one(t)
	if got.ID != id || got.Message != "changed" || got.Payload["secret"] != nil {
		t.Errorf("%+v", got)
	}
	stats := c.Stats()
	if stats.LeftOut != 1 || stats.Dropped[client.DroppedBroken] != 1 || stats.Sent != 1 {
		t.Errorf("%+v", stats)
	}
}

// The application goes on with all arguments, even wrong ones.
func TestNothingPanics(t *testing.T) {
	r := &recorder{}
	c := newClient(t, r)
	var none *client.Client
	for _, c := range []*client.Client{c, none} {
		c.Capture(nil, errPlain) //nolint:staticcheck // the test is that it may be nil
		c.Capture(t.Context(), nil)
		c.Capture(t.Context(), (*nilError)(nil))
		c.Capture(t.Context(), wild{}, client.With("x", wild{}), client.WithRequest(nil))
		c.Capture(t.Context(), errPlain, func(*client.Event) { panic("an option") })
		c.Capture(t.Context(), errPlain, nil)
		c.CaptureMessage(client.NewContext(nil, client.With("a", 1)), "m") //nolint:staticcheck // as above
		c.CaptureMessage(t.Context(), "")
		c.Recover(nil) //nolint:staticcheck // as above
		c.Stats()
	}
	flush(t, c)
	flush(t, none)
	closeIt(t, none)
	if got := len(r.events(t)); got != 4 || c.Stats().Dropped[client.DroppedBroken] != 2 {
		t.Errorf("%d events, %+v", got, c.Stats())
	}
}

func TestManyGoroutines(t *testing.T) {
	r := &recorder{}
	c := newClient(t, r, func(o *client.Options) { o.Queue = 5000 })
	const goroutines, each = 20, 50
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range each {
				c.Capture(t.Context(), errPlain)
			}
		})
	}
	all.Wait()
	flush(t, c)
	ids := map[string]bool{}
	for _, e := range r.events(t) {
		ids[e.ID] = true
	}
	if len(ids) != goroutines*each || c.Stats().Sent != goroutines*each {
		t.Errorf("%d different events, %+v", len(ids), c.Stats())
	}
}

func BenchmarkCapture(b *testing.B) {
	c, err := client.New(client.Options{Transport: &recorder{}, Queue: 1 << 20})
	if err != nil {
		b.Fatal(err)
	}
	err = fmt.Errorf("reserve: %w", &orderError{41, &stockError{"tea"}})
	b.ReportAllocs()
	for b.Loop() {
		c.Capture(b.Context(), err, client.With("order", 42))
	}
	b.ReportMetric(float64(c.Stats().Lost())/float64(b.N), "lost/op")
	if err := c.Close(context.WithoutCancel(b.Context())); err != nil {
		b.Fatal(err)
	}
}
