package api

import (
	"io"
	"net/http"
	"time"
)

// pace is how slow a body may be.
type pace struct {
	small time.Duration // for the whole of a body of up to smallBody
	grace time.Duration // until it begins, and for each pause
}

// paced ends requests whose bodies do not arrive. Nearly all bodies arrive at
// once, and then only the server's own deadline applies.
func (s *Server) paced(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 {
			next.ServeHTTP(w, r)
			return
		}
		now := time.Now() // deadlines of sockets follow the system's clock
		b := &pacedBody{ReadCloser: r.Body, w: w, grace: s.bodies.grace, due: now.Add(s.bodies.grace), end: now.Add(s.bodies.small)}
		if size := r.ContentLength; size < 0 || size > smallBody {
			// Large ones get the time that they need at minRate.
			if size < 0 || size > maxUpload {
				size = maxUpload
			}
			b.end = b.end.Add(time.Duration(size/minRate) * time.Second)
			// It fails only without a connection, and then nothing has to be bounded.
			_ = http.NewResponseController(w).SetWriteDeadline(b.end.Add(writeTimeout))
		}
		inner := r.Body
		r.Body = b
		next.ServeHTTP(w, r)
		r.Body = inner // net/http must find its own body to end it
	})
}

// pacedBody extends the read deadline of the connection as the body arrives: a
// second for each bodyFloor bytes, at most grace ahead, never beyond end.
type pacedBody struct {
	io.ReadCloser
	w        http.ResponseWriter
	grace    time.Duration
	due, end time.Time
}

// Read reads, and sets the deadline of the next Read.
func (b *pacedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n == 0 || err != nil { // after the end net/http watches the connection itself
		return n, err
	}
	b.due = b.due.Add(time.Duration(n) * time.Second / bodyFloor)
	for _, bound := range []time.Time{time.Now().Add(b.grace), b.end} {
		if b.due.After(bound) {
			b.due = bound
		}
	}
	_ = http.NewResponseController(b.w).SetReadDeadline(b.due)
	return n, nil
}
