package api

import (
	"testing"
	"time"
)

// MaxStreams is the bound of open streams.
const MaxStreams = maxStreams

// Decode reads a body.
func Decode(body []byte, dst any) error { return decode(body, dst) }

// Hasten shortens the server's limits, so that tests see them at work: for the
// headers, for a whole small request, and for each pause of a body.
func (s *Server) Hasten(header, read, grace time.Duration) {
	s.http.ReadHeaderTimeout = header
	s.http.ReadTimeout = min(read, grace)
	s.bodies = pace{small: read, grace: grace}
}

// SetStreamHeartbeat makes streams look at their keys more often for a test,
// which must not be parallel.
func SetStreamHeartbeat(t *testing.T, d time.Duration) {
	was := streamHeartbeat
	streamHeartbeat = d
	t.Cleanup(func() { streamHeartbeat = was })
}

// Routes is the table of all API routes. The receivers' paths are not in it.
func Routes() []Route {
	var list []Route
	for _, r := range new(service).routes() {
		list = append(list, r.Route)
	}
	return list
}
