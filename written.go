package errata

import (
	"context"
	"sync/atomic"
)

// Written is how far the log reached when something was put on it on behalf of one request:
// the highest sequence. It is safe for concurrent use.
type Written struct{ last atomic.Uint64 }

// Last is the sequence, 0 when nothing was put on the log.
func (w *Written) Last() uint64 { return w.last.Load() }

// Note says that the fact with the sequence was put on the log. A nil *Written notes nothing.
func (w *Written) Note(sequence uint64) {
	if w == nil {
		return
	}
	for {
		last := w.last.Load()
		if sequence <= last || w.last.CompareAndSwap(last, sequence) {
			return
		}
	}
}

type writtenKey struct{}

// WithWritten returns a context whose Written notes what is put on the log under it.
func WithWritten(ctx context.Context) (context.Context, *Written) {
	w := &Written{}
	return context.WithValue(ctx, writtenKey{}, w), w
}

// WrittenOf is the Written of the context, nil when it has none.
func WrittenOf(ctx context.Context) *Written {
	w, _ := ctx.Value(writtenKey{}).(*Written)
	return w
}
