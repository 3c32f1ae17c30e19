package api

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/gin-gonic/gin"

	errata "github.com/errata-log/errata"
)

// Receivers are the handlers that take events. They check keys, write answers
// and set CORS headers themselves, and get POST and OPTIONS. The path of a nil
// receiver does not exist.
type Receivers struct {
	// Native is POST /api/v1/events.
	Native http.Handler
	// SentryEnvelope is POST /api/{project}/envelope/ and SentryStore
	// POST /api/{project}/store/. They read the project from the path.
	SentryEnvelope, SentryStore http.Handler
	// OTLPLogs, OTLPTraces and OTLPMetrics are POST /v1/logs, /v1/traces and
	// /v1/metrics.
	OTLPLogs, OTLPTraces, OTLPMetrics http.Handler
	// ModuleLog is POST /api/v1/logs/modules, QueryLog POST /api/v1/logs/queries.
	ModuleLog, QueryLog http.Handler
}

// mountReceivers gives each receiver its path, with and without the slash.
func (s *service) mountReceivers(engine *gin.Engine) {
	for path, receiver := range map[string]http.Handler{
		"/api/v1/events":         s.Receivers.Native,
		"/api/:project/envelope": s.Receivers.SentryEnvelope,
		"/api/:project/store":    s.Receivers.SentryStore,
		"/v1/logs":               s.Receivers.OTLPLogs,
		"/v1/traces":             s.Receivers.OTLPTraces,
		"/v1/metrics":            s.Receivers.OTLPMetrics,
		"/api/v1/logs/modules":   s.Receivers.ModuleLog,
		"/api/v1/logs/queries":   s.Receivers.QueryLog,
		// What Sentry's own OpenTelemetry integration calls, with its kind of key.
		"/api/:project/integration/otlp/v1/logs":   s.Receivers.OTLPLogs,
		"/api/:project/integration/otlp/v1/traces": s.Receivers.OTLPTraces,
	} {
		if receiver == nil {
			continue
		}
		for _, method := range []string{http.MethodPost, http.MethodOptions} {
			engine.Handle(method, path, s.receive(receiver))
			engine.Handle(method, path+"/", s.receive(receiver))
		}
	}
}

// receive passes the request on as it is. Every event passes here, so that only
// the catching of panics is added.
func (s *service) receive(receiver http.Handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		defer s.catchReceiver(c)
		receiver.ServeHTTP(c.Writer, c.Request)
	}
}

// catchReceiver answers 500 for a receiver that panicked: the sender keeps the
// event and tries again, instead of seeing the connection break.
func (s *service) catchReceiver(c *gin.Context) {
	caught := recover()
	if caught == nil {
		return
	}
	cause := s.panicked(caught, c.FullPath(), "")
	if c.Writer.Written() {
		panic(http.ErrAbortHandler)
	}
	(&call{Context: c, service: s}).fail(cause)
}

// panicked logs a panic and makes an error of it. It passes
// http.ErrAbortHandler on, by which a handler ends its connection on purpose.
func (s *service) panicked(caught any, route, requestID string) error {
	if err, isError := caught.(error); isError && errors.Is(err, http.ErrAbortHandler) {
		panic(http.ErrAbortHandler)
	}
	s.Logger.Error("panic in a handler", slog.String("route", route), slog.String("request_id", requestID),
		slog.Any("panic", caught), slog.String("stack", string(debug.Stack())))
	return errata.Errorf(errata.KindInternal, "A handler panicked.").Because(fmt.Errorf("panic: %v", caught))
}
