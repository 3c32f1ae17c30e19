package api

import (
	"bytes"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/agents"
)

// askAgents answers POST /mcp. Any key may speak the protocol; each tool then asks the API
// with the same key, which decides there what it may.
func (s *service) askAgents(c *call) (answer, error) {
	if !s.ownOrigin(c) {
		return answer{}, errata.Errorf(errata.KindForeignOrigin, "A page of another origin may not send requests to agents' tools.")
	}
	body, err := c.readBody()
	if err != nil {
		return answer{}, err
	}
	if err := c.checkMedia(); err != nil {
		return answer{}, err
	}
	if err := decode(body, &struct{}{}); err != nil { // one message: the protocol has no lists of them any more
		return answer{}, err
	}
	req := c.Request.Clone(c.Request.Context())
	req.Body = io.NopCloser(bytes.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(requestIDHeader, c.requestID)
	scheme, host := s.publicAddress(c)
	w := agents.NewRecorder()
	s.agents.Serve(w, req, scheme+"://"+host)
	return agentsSaid(w)
}

// agentsSaid passes on what the protocol answers. What the library refuses as plain text
// becomes an error like any other.
func agentsSaid(w *agents.Recorder) (answer, error) {
	kind := w.Header().Get("Content-Type")
	switch {
	case w.Status >= http.StatusBadRequest && !strings.HasPrefix(kind, "application/json"):
		code := errata.KindInvalidBody
		if w.Status == http.StatusNotFound {
			code = errata.KindNotFound
		}
		return answer{}, errata.Errorf(code, "This is no request of the Model Context Protocol that can be answered: %s", cut(strings.TrimSpace(w.Body.String())))
	case w.Status == http.StatusAccepted:
		return answer{raw: http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) { to.WriteHeader(w.Status) })}, nil
	}
	return answer{raw: http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) {
		to.Header().Set("Content-Type", "application/json")
		to.WriteHeader(w.Status)
		_, _ = to.Write(w.Body.Bytes()) // the agent may be gone
	})}, nil
}

// ownOrigin refuses pages of other origins, as the protocol asks. An agent that is no
// browser sends no Origin. A page that gave its own name our address (DNS rebinding) has
// the origin that it asks for, so the host must be one that is ours: that of the public
// address, or this machine.
func (s *service) ownOrigin(c *call) bool {
	sent := c.Request.Header.Values("Origin")
	if len(sent) == 0 {
		return c.GetHeader("Sec-Fetch-Site") != "cross-site"
	}
	origin, err := url.Parse(sent[0])
	if err != nil || len(sent) > 1 || origin.Host == "" {
		return false
	}
	if own, err := url.Parse(s.PublicURL); err == nil && own.Host != "" && strings.EqualFold(own.Host, origin.Host) && own.Scheme == origin.Scheme {
		return true
	}
	return strings.EqualFold(origin.Host, c.Request.Host) && isLoopback(origin.Hostname())
}

// isLoopback says whether a host of an address is this machine.
func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}
