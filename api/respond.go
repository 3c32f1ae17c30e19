package api

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/internal/httpstatus"
	"github.com/errata-log/errata/signin"
)

// success is the envelope of an answer.
type success struct {
	Data any `json:"data"`
	Meta any `json:"meta,omitempty"`
}

// failure is the envelope of an error.
type failure struct {
	Error failureBody `json:"error"`
}

type failureBody struct {
	Code      errata.Kind `json:"code"`
	Message   string      `json:"message"`
	Details   any         `json:"details,omitempty"`
	RequestID string      `json:"request_id"`
	// Debug is the cause of a 5xx, for administrators who asked for it.
	Debug string `json:"debug,omitempty"`
}

// orEmpty makes an empty list of nil, which JSON would show as null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// warned is meta of an answer with warnings.
type warned struct {
	Warnings []signin.Warning `json:"warnings"`
}

// reply makes an answer of what a call returned.
func reply(data any, err error) (answer, error) { return answer{data: data}, err }

// replyWarned is reply with warnings, which stand in meta.
func replyWarned(data any, warnings []signin.Warning, err error) (answer, error) {
	if len(warnings) == 0 {
		return answer{data: data}, err
	}
	return answer{data: data, meta: warned{warnings}}, err
}

// respond writes a handler's answer.
func (c *call) respond(a answer) {
	c.tellPosition()
	if a.raw != nil {
		a.raw.ServeHTTP(c.Writer, c.Request)
		return
	}
	if err := a.encode(); err != nil {
		c.fail(err)
		return
	}
	c.write(a.status, a.encoded)
}

// encode makes the whole body before the first byte is sent, so that a failure
// gives an error and not half an answer.
func (a *answer) encode() (err error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	if a.encoded == nil {
		a.encoded, err = json.Marshal(success{a.data, a.meta})
	}
	return err
}

const (
	// retryStore is the Retry-After of an outage whose error has none: the
	// embedded engines are back within it.
	retryStore = 5 * time.Second
	// statusGone is logged when the caller did not wait for the answer. The
	// number is nginx's; no caller sees it.
	statusGone = 499
)

// fail writes the error envelope. The cause goes to the log, and the caller
// gets the request id to find it there.
func (c *call) fail(err error) {
	if c.Request.Context().Err() != nil && errors.Is(err, context.Canceled) {
		c.Status(statusGone)
		return
	}
	c.tellPosition()
	e := public(err)
	status := httpstatus.Of(e.Kind)
	if status >= http.StatusInternalServerError && e.Kind != errata.KindNotImplemented {
		level := slog.LevelError
		if status == http.StatusServiceUnavailable { // an outage ends by itself, and every probe meets it
			level = slog.LevelWarn
		}
		c.service.Logger.LogAttrs(c.Request.Context(), level, "request failed",
			slog.String("route", c.FullPath()),
			slog.String("request_id", c.requestID),
			slog.String("code", string(e.Kind)),
			slog.Any("error", err))
	}
	if wait := e.RetryAfter; wait > 0 {
		c.Writer.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
	envelope := failure{failureBody{Code: e.Kind, Message: e.Message, Details: e.Details, RequestID: c.requestID}}
	if status >= http.StatusInternalServerError && c.mayDebug() {
		envelope.Error.Debug = cause(err)
	}
	body, err := json.Marshal(envelope)
	if err != nil { // details that cannot be encoded
		envelope.Error.Details = nil
		body, _ = json.Marshal(envelope) //nolint:errchkjson // what is left are texts
	}
	c.write(status, body)
}

// mayDebug says whether the answer shows the cause of an error: only to an
// admin key, and only while error_debug is on.
func (c *call) mayDebug() bool {
	return c.key.Kind == access.KindAdmin && c.service.LogSettings != nil && c.service.LogSettings.Logging().ErrorDebug
}

// maxDebug bounds the cause in an answer: a database can answer with pages.
const maxDebug = 4 << 10

// cause is the text of the cause of an error, "" when it has none.
func cause(err error) string {
	if known, ok := err.(*errata.Error); ok && httpstatus.Of(known.Kind) != http.StatusInternalServerError { //nolint:errorlint // a wrapped one has more to say than its message
		if err = known.Err; err == nil {
			return "" // the message says it all
		}
	}
	text := err.Error()
	if len(text) > maxDebug {
		text = strings.ToValidUTF8(text[:maxDebug], "")
	}
	return text
}

// public is what callers may learn of err: the first *errata.Error in its
// chain, or that something is wrong on our side.
func public(err error) errata.Error {
	var known *errata.Error
	switch {
	case errors.As(err, &known) && httpstatus.Of(known.Kind) != http.StatusInternalServerError:
	case errors.Is(err, context.DeadlineExceeded):
		known = errata.Errorf(errata.KindStoreUnavailable, "The records did not answer in time; try again shortly.")
	default:
		known = errata.Errorf(errata.KindInternal, "Something went wrong on our side; the operator finds it in the log under this request id.")
	}
	e := *known
	if e.RetryAfter == 0 && httpstatus.Of(e.Kind) == http.StatusServiceUnavailable {
		e.RetryAfter = retryStore
	}
	return e
}

// write sends a JSON body. encoding/json has escaped <, >, & and the line
// separators U+2028 and U+2029, so that the text is harmless in a page too.
func (c *call) write(status int, body []byte) {
	c.Writer.Header().Set("Content-Type", "application/json")
	c.Writer.WriteHeader(status)
	if _, err := c.Writer.Write(append(body, '\n')); err != nil {
		// The caller is gone.
		c.service.Logger.LogAttrs(c.Request.Context(), slog.LevelDebug, "answer was not taken",
			slog.String("request_id", c.requestID), slog.Any("error", err))
	}
}
