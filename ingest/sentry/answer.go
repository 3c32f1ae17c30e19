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

// allowOrigins lets a page of any origin send and read the answer: the key is
// public, and nothing can be read here.
func allowOrigins(h http.Header) {
	h["Access-Control-Allow-Origin"] = corsOrigin
	h["Access-Control-Allow-Methods"] = corsMethods
	h["Access-Control-Allow-Headers"] = corsHeaders
	h["Access-Control-Expose-Headers"] = corsExpose
	h["Access-Control-Max-Age"] = corsMaxAge
}

// The values are shared by all answers and never written to.
var (
	corsOrigin  = []string{"*"}
	corsMethods = []string{"POST, OPTIONS"}
	corsHeaders = []string{"X-Sentry-Auth, X-Requested-With, Origin, Accept, Content-Type, Content-Encoding, " +
		"Authentication, Authorization, sentry-trace, baggage"}
	corsExpose = []string{"X-Sentry-Error, X-Sentry-Rate-Limits, Retry-After"}
	corsMaxAge = []string{"3600"}
)

// answer writes the one answer that SDKs know: {"id":…} or {} for taken,
// {"detail":…} for everything else.
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
		// With the categories named, SDKs count what they hold back and report it.
		header.Set("X-Sentry-Rate-Limits", wait+":error;default;log_item:"+string(quota.ScopeOf(err))+":"+limitReason(told.Kind))
	}
	header.Set("X-Sentry-Error", headerText(told.Message))
	door.Write(w, httpstatus.Of(told.Kind), contentType, detail(told))
}

const contentType = "application/json"

// limitReason is the refusal in Sentry's word, where it has one: SDKs and their
// reports know "quota".
func limitReason(kind errata.Kind) string {
	if kind == errata.KindRateLimited {
		return "quota"
	}
	return strings.ReplaceAll(string(kind), "_", "-")
}

// droppedPause is for how many seconds SDKs are asked to keep their errors
// while recording is switched off. It saves their traffic, and it is how long
// they may stay silent after it is switched on again.
const droppedPause = "60"

// sayDropped tells that events were taken and not kept. SDKs obey the limit on
// a 200 too.
func sayDropped(h http.Header, recorded int) {
	h.Set(door.HeaderRecorded, strconv.Itoa(recorded))
	h.Set("X-Sentry-Rate-Limits", droppedPause+":error;default;log_item:project:disabled")
}

// detail is the answer's body. A broken body gets its reason as a cause, as
// Sentry answers it.
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

// headerText makes a text fit for a header: our own sentences are plain, but
// one may quote.
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

// malformed is the error for a body that breaks the protocol. The parser's own
// text goes to the operator only: it quotes the body and has no bound.
func malformed(what string, cause error) error {
	e := door.Malformed(what)
	if cause != nil {
		return e.Because(cause)
	}
	return e
}
