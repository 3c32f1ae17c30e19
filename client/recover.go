package client

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// panicFlush is how long a panic that goes on waits for its event to be sent:
// the process may end with it.
const panicFlush = 2 * time.Second

// panicClass is the class of a panic whose value is no error.
const panicClass = "panic"

// Recover ends a panic and sends it, with level fatal, as unhandled. It must
// be deferred itself:
//
//	defer ledger.Recover(ctx)
func (c *Client) Recover(ctx context.Context, opts ...EventOption) {
	if c == nil {
		return
	}
	if p := recover(); p != nil {
		c.capturePanic(ctx, p, opts)
	}
}

// RecoverAndRepanic sends a panic and lets it go on. Since the process may end
// with it, it waits up to two seconds until the event is sent. It must be
// deferred itself.
func (c *Client) RecoverAndRepanic(ctx context.Context, opts ...EventOption) {
	if c == nil {
		return
	}
	p := recover()
	if p == nil {
		return
	}
	c.capturePanic(ctx, p, opts)
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), panicFlush)
	defer cancel()
	_ = c.Flush(ctx) // the panic matters more
	panic(p)
}

func (c *Client) capturePanic(ctx context.Context, value any, opts []EventOption) {
	c.capture(ctx, panicked, func(e *Event) []uintptr {
		if err, ok := value.(error); ok {
			e.describe(err) // but the stack is that of the panic
		} else {
			e.Message, e.Class = textOfPanic(value), panicClass
			e.Chain = []Cause{{Class: panicClass, Message: cut(e.Message, maxCause)}}
		}
		e.Level, e.Unhandled = LevelFatal, true
		return nil
	}, opts)
}

// textOfPanic is a panic's value as the runtime would print it, of a value of
// many parts only the type: it may be large, and refer to itself.
func textOfPanic(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case fmt.Stringer:
		return v.String()
	case bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, uintptr, float32, float64, complex64, complex128:
		return fmt.Sprint(v)
	default:
		return fmt.Sprintf("panic with a %T", value)
	}
}

// Middleware gives the events of a request its address and method, see
// [WithRequest], and sends what panics in it. The answer to such a request is
// 500, or an ended connection when a part of it was written already.
func (c *Client) Middleware(next http.Handler) http.Handler {
	if c == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := NewContext(r.Context(), WithRequest(r))
		watched := &watchedWriter{ResponseWriter: w}
		defer func() {
			p := recover()
			switch {
			case p == nil:
				return
			case p == http.ErrAbortHandler:
				panic(p) // no error: the handler wants the connection to end
			}
			c.capturePanic(ctx, p, nil)
			if watched.begun {
				panic(http.ErrAbortHandler) // half an answer must not look whole
			}
			http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		}()
		next.ServeHTTP(watched, r.WithContext(ctx))
	})
}

// watchedWriter knows whether an answer has begun.
type watchedWriter struct {
	http.ResponseWriter
	begun bool
}

// WriteHeader implements http.ResponseWriter.
func (w *watchedWriter) WriteHeader(status int) {
	w.begun = w.begun || status >= http.StatusOK
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *watchedWriter) Write(p []byte) (int, error) {
	w.begun = true
	return w.ResponseWriter.Write(p)
}

// ReadFrom implements io.ReaderFrom, which net/http uses to send files.
func (w *watchedWriter) ReadFrom(r io.Reader) (int64, error) {
	w.begun = true
	return io.Copy(w.ResponseWriter, r)
}

// Flush implements http.Flusher.
func (w *watchedWriter) Flush() {
	w.begun = true
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack implements http.Hijacker.
func (w *watchedWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.begun = true
	return http.NewResponseController(w.ResponseWriter).Hijack()
}

// Unwrap is for http.ResponseController.
func (w *watchedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
