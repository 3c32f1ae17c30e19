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
	// silentSince is when the log first gave no answer, zero after one.
	silentSince time.Time
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
	switch {
	case errata.KindOf(err) != errata.KindLogUnavailable: // it was taken, or refused
		w.silentSince = time.Time{}
	case w.silentSince.IsZero():
		w.silentSince = w.failedAt
	}
}

// silent is when the first and the last of the latest appends failed because the
// log gave no answer, and why; no error when it has given one since.
func (w *watchedLog) silent() (first, last time.Time, why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.silentSince.IsZero() {
		return first, last, nil
	}
	return w.silentSince, w.failedAt, w.why
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
