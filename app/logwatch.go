package app

import (
	"context"
	"sync"
	"time"

	errata "github.com/errata-log/errata"
)

// appender is what puts events on the log; *eventlog.Appender is it.
type appender interface {
	Append(ctx context.Context, events []errata.Event) error
}

// watchedLog passes events on and remembers whether the log takes them. A log
// whose disk failed answers every question and takes nothing, so that asking
// it is not enough.
type watchedLog struct {
	appender
	now      func() time.Time
	arrivals arrivals

	mu       sync.Mutex
	failedAt time.Time // of the latest failed append, zero after one that succeeded
	why      error
}

// troubleFades is how long one refusal counts when no other append follows.
// Without an end, a service that is sent nothing because it is not ready could
// never find out that it is.
const troubleFades = 30 * time.Second

// Append appends and notes the outcome. Errors: those of the appender.
func (w *watchedLog) Append(ctx context.Context, events []errata.Event) error {
	err := w.appender.Append(ctx, events)
	switch errata.KindOf(err) {
	case errata.KindLogUnavailable, errata.KindLogFull:
		if ctx.Err() == nil { // a sender that went away says nothing about the log
			w.note(err)
		}
	default:
		if err == nil {
			w.note(nil)
			w.arrivals.add(w.now(), len(events))
		}
	}
	return err
}

func (w *watchedLog) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failedAt, w.why = time.Time{}, err
	if err != nil {
		w.failedAt = w.now()
	}
}

// trouble is why the log refused the latest events, nil while it takes them
// and when that was long ago.
func (w *watchedLog) trouble() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failedAt.IsZero() || w.now().Sub(w.failedAt) > troubleFades {
		return nil
	}
	return w.why
}
