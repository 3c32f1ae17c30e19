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

// panicFlush is how long RecoverAndRepanic waits for the event to be sent. The
// process may end with the panic.
const panicFlush = 2 * time.Second

// panicClass is the class of a panic whose value is no error.
const panicClass = "panic"

// Recover ends a panic and sends it as unhandled, with level fatal. The call
// itself must be deferred:
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

// RecoverAndRepanic sends a panic and then panics again. The process may end with
// the panic, so it waits up to two seconds until the event is sent. The call
// itself must be deferred.
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
	_ = c.Flush(ctx) // the panic goes on in any case
	panic(p)
}

func (c *Client) capturePanic(ctx context.Context, value any, opts []EventOption) {
	c.capture(ctx, panicked, func(e *Event) []uintptr {
		if err, ok := value.(error); ok {
			e.describe(err) // without its stack: that of the panic counts
		} else {
			e.Message, e.Class = textOfPanic(value), panicClass
			e.Chain = []Cause{{Class: panicClass, Message: cut(e.Message, maxCause)}}
		}
		e.Level, e.Unhandled = LevelFatal, true
		return nil
	}, opts)
}

// textOfPanic is a panic's value as the runtime prints it, and only the type of a
// value with parts, which may be large and contain itself.
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

// Middleware adds the URI and the method of a request to its events, see
// [WithRequest], and sends a panic of its handler. The answer is then 500; if a
// part of it was written already, the connection ends.
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
				panic(p) // the handler ends the connection on purpose
			}
			c.capturePanic(ctx, p, nil)
			if watched.begun {
				panic(http.ErrAbortHandler) // half an answer must not look complete
			}
			http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		}()
		next.ServeHTTP(watched, r.WithContext(ctx))
	})
}

// watchedWriter remembers whether the answer has begun.
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
