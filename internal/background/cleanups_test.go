package background_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/errata-log/errata/internal/background"
)

func newCleanups() *background.Cleanups {
	c := background.NewCleanups(slog.New(slog.DiscardHandler))
	return &c
}

func TestCleanupsRunInReverse(t *testing.T) {
	c := newCleanups()
	var order []string
	broken := errors.New("disk is gone")
	for _, name := range []string{"engines", "appender", "listener"} {
		c.Add(name, func(context.Context) error {
			order = append(order, name)
			if name == "appender" {
				return broken
			}
			return nil
		})
	}
	err := c.Run(t.Context())
	if want := []string{"listener", "appender", "engines"}; !slices.Equal(order, want) {
		t.Errorf("order: got %q, want %q", order, want)
	}
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "stop appender") {
		t.Errorf("got error %v, want the cause with the name of its part", err)
	}
	order = nil
	if err := c.Run(t.Context()); err != nil || order != nil {
		t.Errorf("second run: got %v and steps %q, want nothing", err, order)
	}
}

func TestCleanupsLeaveAStuckStepBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCleanups()
		release := make(chan struct{})
		var closed, late bool
		c.Add("files", func(ctx context.Context) error {
			closed = true
			_, late = ctx.Deadline()
			return ctx.Err()
		})
		c.Add("stuck", func(context.Context) error { <-release; return nil })
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		began := time.Now()
		err := c.Run(ctx)
		if took := time.Since(began); took != 10*time.Second+background.LastCall {
			t.Errorf("took %v, want the limit and one last call", took)
		}
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "stop stuck") {
			t.Errorf("got error %v, want a deadline with the name of the stuck part", err)
		}
		if !closed || !late {
			t.Errorf("the step below: closed %v, with a limit %v; want both", closed, late)
		}
		close(release)
	})
}
