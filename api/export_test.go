package api

import "time"

// Hasten shortens the server's limits, so that tests see them at work.
func (s *Server) Hasten(header, read time.Duration) {
	s.http.ReadHeaderTimeout = header
	s.http.ReadTimeout = read
}
