package api

import (
	"context"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/gin-gonic/gin"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/origin"
)

// call is one request on its way through the API.
type call struct {
	*gin.Context
	service *service
	// requestID is the caller's own id when it is safe to log, else a new one.
	requestID string
	// key is who calls; the zero Key on open routes.
	key access.Key
	// projects are those that the caller sees and changes; nil for all. See confine.
	projects []uint64
	// written is how far the log reached when the call put something on it.
	written *errata.Written
	// tells says that the answer has the header of a position.
	tells bool
}

// answer is what a handler returns. The zero status means 200.
type answer struct {
	status int
	data   any
	meta   any
	// raw answers in another format; then the other fields are not used.
	raw http.Handler
	// encoded is the whole body when it is already encoded.
	encoded []byte
}

// serve runs every API request: prepare, admit, confine, check the query, wait for the
// records, handle, respond, log.
func (s *service) serve(r route) gin.HandlerFunc {
	return func(gc *gin.Context) {
		begun := s.Now()
		c := &call{Context: gc, service: s, requestID: s.requestID(gc.GetHeader(requestIDHeader))}
		defer s.logRequest(c, r, begun)
		defer s.catch(c, r)
		c.prepare()
		if err := s.admit(c, r); err != nil {
			c.fail(err)
			return
		}
		if err := c.confine(r); err != nil {
			c.fail(err)
			return
		}
		var ctx context.Context
		ctx, c.written = errata.WithWritten(errata.WithActor(c.Request.Context(), c.actor(r)))
		c.Request = c.Request.WithContext(ctx)
		if err := c.readQuery(r); err != nil {
			c.fail(err)
			return
		}
		c.tells = s.tells(r)
		if err := c.awaitPosition(); err != nil {
			c.fail(err)
			return
		}
		a, err := s.once(c, r)
		if err != nil {
			c.fail(err)
			return
		}
		c.respond(a)
	}
}

// actor is who calls, for the changes that the handler makes.
func (c *call) actor(r route) errata.Actor {
	return errata.Actor{
		KeyID: c.key.ID, KeyName: c.key.Name, IP: c.client().String(),
		Route: r.Method + " " + r.Path, Scope: string(r.Scope), RequestID: c.requestID,
	}
}

// requestIDHeader carries the id that ties an answer to lines of the log.
const requestIDHeader = "X-Request-Id"

// maxRequestID bounds an id that the caller brings; a UUID has 36 bytes, the
// longest in common use 64.
const maxRequestID = 64

// requestID is the caller's id, or a new one when that is missing or could not
// stand in a log or a shell safely.
func (s *service) requestID(given string) string {
	if saneID(given) {
		return given
	}
	var raw [16]byte
	if _, err := io.ReadFull(s.Random, raw[:]); err != nil {
		return "unknown" // an answer without an id is better than none
	}
	return hex.EncodeToString(raw[:])
}

func saneID(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	for i := range len(id) {
		c := id[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

// prepare sets the headers of every API answer. Answers are for programs: a
// browser must neither guess their type, run, frame nor keep them.
func (c *call) prepare() {
	h := c.Writer.Header()
	h.Set(requestIDHeader, c.requestID)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
}

// catch turns a panic into an answer.
func (s *service) catch(c *call, r route) {
	caught := recover()
	if caught == nil {
		return
	}
	cause := s.panicked(caught, r.Path, c.requestID)
	if c.Writer.Written() {
		panic(http.ErrAbortHandler) // half an answer must not look like a whole one
	}
	c.fail(cause)
}

// logRequest writes the one line of a request: no query, no body, no key, and
// of the caller's own text only the checked id.
func (s *service) logRequest(c *call, r route, begun time.Time) {
	level := slog.LevelInfo
	if r.quiet {
		level = slog.LevelDebug
	}
	s.Logger.LogAttrs(c.Request.Context(), level, "request",
		slog.String("method", c.Request.Method),
		slog.String("route", r.Path),
		slog.Int("status", c.Writer.Status()),
		slog.Duration("duration", s.Now().Sub(begun)),
		slog.String("request_id", c.requestID))
}

// client is the address that the request came from: that of the socket, or
// what trusted proxies say.
func (c *call) client() netip.Addr {
	return origin.Client(c.Request, c.service.TrustedProxies)
}
