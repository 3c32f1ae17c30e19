package client_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/slogtest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/errata-log/errata/client"
)

func TestSlog(t *testing.T) {
	var other bytes.Buffer
	at := 0
	got := captured(t, func(c *client.Client) {
		next := slog.NewTextHandler(&other, &slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}})
		log := slog.New(c.Handler(client.HandlerOptions{Next: next}))
		log.Debug("nobody hears it")
		log.Info("only the other log", "n", 1)
		log = log.With("service", "shop").WithGroup("order").With("number", 42)
		at = line() + 1
		log.Error("order failed", "err", fmt.Errorf("reserve: %w", &stockError{"tea"}), slog.Group("empty"), slog.Group("", "inline", true), slog.Group("cart", "items", 3))
	})
	if got.Message != "order failed: reserve: out of tea" || got.Template != "order failed" || got.ExceptionClass != "*client_test.stockError" ||
		got.Level != "error" || got.File != "client/slog_test.go" || got.Line != at || len(got.Payload["chain"].([]any)) != 2 {
		t.Errorf("%+v, want line %d", got, at)
	}
	if last := got.Frames[len(got.Frames)-1]; last.Line != at || len(got.Frames) < 3 {
		t.Errorf("frames %+v", got.Frames)
	}
	delete(got.Payload, "chain")
	want := map[string]any{
		"sdk": "errata-go/1", "handled": true, "service": "shop",
		"order": map[string]any{"number": 42.0, "err": "reserve: out of tea", "inline": true, "cart": map[string]any{"items": 3.0}},
	}
	if diff := cmp.Diff(want, got.Payload); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if text := other.String(); text != "level=INFO msg=\"only the other log\" n=1\n"+
		"level=ERROR msg=\"order failed\" service=shop order.number=42 order.err=\"reserve: out of tea\" order.inline=true order.cart.items=3\n" {
		t.Errorf("the other log: %s", text)
	}
}

func TestSlogLevels(t *testing.T) {
	r := &recorder{}
	c := newClient(t, r)
	log := slog.New(c.Handler(client.HandlerOptions{Level: slog.LevelDebug}))
	for _, level := range []slog.Level{-4, -1, 0, 2, 4, 8, 12, 16, 20} {
		log.Log(t.Context(), level, "m")
	}
	flush(t, c)
	var got []string
	for _, e := range r.events(t) {
		got = append(got, e.Level)
	}
	if want := "debug debug info notice warning error critical fatal fatal"; strings.Join(got, " ") != want {
		t.Errorf("levels %v, want %v", got, want)
	}
	if log = slog.New(c.Handler(client.HandlerOptions{})); log.Enabled(t.Context(), slog.LevelWarn) || !log.Enabled(t.Context(), slog.LevelError) {
		t.Error("errors and above is not the default")
	}
	var none *client.Client
	slog.New(none.Handler(client.HandlerOptions{})).Error("nowhere")
}

// A record that another goroutine handles, or that has no place, is sent too.
func TestSlogRecordsFromElsewhere(t *testing.T) {
	ctx := client.NewContext(t.Context(), client.WithUser("7"))
	got := captured(t, func(c *client.Client) {
		h := c.Handler(client.HandlerOptions{}).WithGroup("").WithAttrs(nil)
		record := slog.NewRecord(time.Time{}, slog.LevelError, "", 0)
		record.Add("err", wild{})
		if err := h.Handle(ctx, record); err != nil {
			t.Error(err)
		}
	})
	if got.ExceptionClass != "client_test.wild" || got.Message == "" || got.Time.IsZero() || got.UserID != "7" || got.File != "client/slog_test.go" {
		t.Errorf("%+v", got)
	}
	pc := callerPC()
	got = captured(t, func(c *client.Client) {
		done := make(chan error)
		go func() {
			done <- c.Handler(client.HandlerOptions{}).Handle(context.Background(), slog.NewRecord(time.Now(), slog.LevelError, "", pc))
		}()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	if len(got.Frames) != 1 || got.Frames[0].Function != "TestSlogRecordsFromElsewhere" || got.Message == "" {
		t.Errorf("%+v", got)
	}
}

// The standard library's check of handlers, with the sent events.
func TestSlogConformance(t *testing.T) {
	slogtest.Run(t, func(t *testing.T) slog.Handler {
		r := &recorder{}
		c := newClient(t, r)
		sentBy[t.Name()] = func() map[string]any {
			flush(t, c)
			e := r.one(t)
			result := e.Payload
			delete(result, "sdk")
			result[slog.MessageKey], result[slog.LevelKey] = e.Message, e.Level
			if !strings.Contains(t.Name(), "zero-time") {
				result[slog.TimeKey] = e.Time
			}
			return result
		}
		return c.Handler(client.HandlerOptions{Level: slog.LevelInfo})
	}, func(t *testing.T) map[string]any { return sentBy[t.Name()]() })
}

var sentBy = map[string]func() map[string]any{}
