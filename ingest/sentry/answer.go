package sentry

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/go-faster/jx"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/quota"
	"github.com/errata-log/errata/internal/httpstatus"
)

const methods = "POST, OPTIONS"

// cors lets a page of any origin send events and read the answer: the key is
// public, and the endpoints show no data. All answers share the values.
var cors = [...]struct {
	name  string
	value []string
}{
	{"Access-Control-Allow-Origin", []string{"*"}},
	{"Access-Control-Allow-Methods", []string{methods}},
	{"Access-Control-Allow-Headers", []string{"X-Sentry-Auth, X-Requested-With, Origin, Accept, Content-Type, Content-Encoding, " +
		"Authentication, Authorization, sentry-trace, baggage"}},
	{"Access-Control-Expose-Headers", []string{"X-Sentry-Error, X-Sentry-Rate-Limits, Retry-After"}},
	{"Access-Control-Max-Age", []string{"3600"}},
}

// answer writes the answer that SDKs know: {"id":…} or {} for success,
// {"detail":…} for an error.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, id string, err error) {
	h.door.Done(r.Context(), w.Header().Get("X-Request-Id"), err)
	if err == nil {
		if id == "" {
			door.Write(w, http.StatusOK, contentType, []byte("{}"))
			return
		}
		door.Write(w, http.StatusOK, contentType, []byte(`{"id":"`+id+`"}`))
		return
	}
	told, header := door.Told(err), w.Header()
	if door.Passing(told.Kind) {
		wait := strconv.Itoa(door.RetrySeconds(told))
		header.Set("Retry-After", wait)
		// The categories make SDKs count the events that they drop, and report them.
		header.Set("X-Sentry-Rate-Limits", wait+":error;default;log_item:"+string(quota.ScopeOf(err))+":"+limitReason(told.Kind))
	}
	header.Set("X-Sentry-Error", headerText(told.Message))
	door.Write(w, httpstatus.Of(told.Kind), contentType, detail(told))
}

const contentType = "application/json"

// limitReason names a refusal. "quota" is a word that SDKs know and report.
func limitReason(kind errata.Kind) string {
	if kind == errata.KindRateLimited {
		return "quota"
	}
	return strings.ReplaceAll(string(kind), "_", "-")
}

// droppedPause is how many seconds SDKs pause while recording is switched off.
// It saves traffic; SDKs may stay silent for as long after it is on again.
const droppedPause = "60"

// sayDropped says in headers that the events were dropped. SDKs obey the limit
// on a 200 too.
func sayDropped(h http.Header, recorded int) {
	h.Set(door.HeaderRecorded, strconv.Itoa(recorded))
	h.Set("X-Sentry-Rate-Limits", droppedPause+":error;default;log_item:project:disabled")
}

// detail is the body of an error's answer. For a broken request the reason is a
// cause, as Sentry answers it.
func detail(told *errata.Error) []byte {
	var e jx.Encoder
	e.ObjStart()
	e.FieldStart("detail")
	if told.Kind == errata.KindInvalidBody {
		e.Str("invalid event envelope")
		e.FieldStart("causes")
		e.ArrStart()
		e.Str(told.Message)
		e.ArrEnd()
	} else {
		e.Str(told.Message)
	}
	e.ObjEnd()
	return e.Bytes()
}

// headerText makes a message fit for a header. It may quote any characters.
func headerText(text string) string {
	const max = 200
	if len(text) > max {
		text = text[:max]
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, text)
}

// malformed is the error for a body that breaks the protocol. Only the operator
// sees the cause: the parser's text quotes the body and has no limit.
func malformed(what string, cause error) error { return door.Malformed(what).Because(cause) }
