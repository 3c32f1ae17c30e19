package api

import (
	"testing"
	"time"
)

// MaxStreams is the bound of open streams.
const MaxStreams = maxStreams

// Hasten shortens the server's limits, so that tests see them at work.
func (s *Server) Hasten(header, read time.Duration) {
	s.http.ReadHeaderTimeout = header
	s.http.ReadTimeout = read
}

// SetStreamHeartbeat makes streams look at their keys more often for a test,
// which must not be parallel.
func SetStreamHeartbeat(t *testing.T, d time.Duration) {
	was := streamHeartbeat
	streamHeartbeat = d
	t.Cleanup(func() { streamHeartbeat = was })
}
