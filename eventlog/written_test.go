package eventlog_test

import (
	"context"
	"encoding/json"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

// TestWritten: whoever puts something on the log learns where it is.
func TestWritten(t *testing.T) {
	l := newLog(t)
	appender, queued := l.appender(t), appenderTo(t, eventlog.AppenderConfig{Log: l.Log, Queue: true})
	commander := l.commander(t, storedAnswers{answer: json.RawMessage("{}"), checkpoint: 1 << 40})
	events := []errata.Event{event("a")}
	for name, put := range map[string]func(context.Context) error{
		"events": func(ctx context.Context) error { return appender.Append(ctx, events) },
		"a setting": func(ctx context.Context) error {
			_, err := eventlog.AppendSetting(ctx, l.Log, "x", []byte("one"), 0)
			return err
		},
		"a command": func(ctx context.Context) error { _, err := commander.Do(ctx, eventlog.CommandBarrier, nil); return err },
	} {
		ctx, written := errata.WithWritten(t.Context())
		if err := put(ctx); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if want := lastOf(t, l.Log); written.Last() != want {
			t.Errorf("%s: written at %d, want %d", name, written.Last(), want)
		}
	}
	ctx, written := errata.WithWritten(t.Context())
	if err := queued.Append(ctx, events); err != nil || written.Last() != 0 {
		t.Errorf("events in a queue: written at %d (%v), want 0", written.Last(), err)
	}
}

// TestWrittenIsTheLast: a request may write several facts, in any order.
func TestWrittenIsTheLast(t *testing.T) {
	_, written := errata.WithWritten(t.Context())
	for _, at := range []uint64{3, 9, 4} {
		written.Note(at)
	}
	if written.Last() != 9 {
		t.Errorf("the last of 3, 9 and 4 is %d, want 9", written.Last())
	}
	errata.WrittenOf(t.Context()).Note(1) // nobody asked
}
