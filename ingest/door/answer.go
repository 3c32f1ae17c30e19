package door

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/httpstatus"
)

// Headers of answers.
const (
	// HeaderRecorded is the number of events or entries of the request that are on
	// disk. Receivers of our own protocols send it with every 2xx. The others send it
	// when events were dropped, which their protocols cannot say.
	HeaderRecorded = "X-Errata-Recorded"
	// HeaderPosition is how far the log reached with the events of a request, in native
	// answers. Whoever sends it with a question to the API sees them. It is not there when the
	// events have no place on the log yet, or get none.
	HeaderPosition = "X-Errata-Position"
	// HeaderDevelopment is "1" in native answers while development is on.
	HeaderDevelopment = "X-Errata-Development"
)

// Data is the envelope of a 2xx answer.
type Data[T any] struct {
	Data T `json:"data"`
}

// Serve answers a request in the format of the API: with the status and the data
// that take returns, or with the error envelope.
func (d *Door) Serve(w http.ResponseWriter, r *http.Request, status int, take func(http.ResponseWriter, *http.Request) (data any, err error)) {
	requestID := d.requestID(w)
	data, err := take(w, r)
	d.Done(r.Context(), requestID, err)
	if err != nil {
		refuse(w, requestID, Told(err))
		return
	}
	write(w, status, data)
}

// refuse answers with the API's error envelope.
func refuse(w http.ResponseWriter, requestID string, told *errata.Error) {
	type failure struct {
		Code      errata.Kind `json:"code"`
		Message   string      `json:"message"`
		Details   any         `json:"details,omitempty"`
		RequestID string      `json:"request_id"`
	}
	RefusalHeaders(w.Header(), told)
	write(w, httpstatus.Of(told.Kind), struct {
		Error failure `json:"error"`
	}{failure{told.Kind, told.Message, told.Details, requestID}})
}

func write(w http.ResponseWriter, status int, answer any) {
	text, err := json.Marshal(answer) // also escapes <, > and &
	if err != nil {
		// Only an error's Details can have a value that JSON cannot hold.
		status, text = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","message":"the answer could not be written"}}`)
	}
	Write(w, status, "application/json", append(text, '\n'))
}

// Write sends an answer with the status and the text.
func Write(w http.ResponseWriter, status int, contentType string, text []byte) {
	h := w.Header()
	if contentType == "application/json" {
		h["Content-Type"] = isJSON
	} else {
		h.Set("Content-Type", contentType)
	}
	h["X-Content-Type-Options"] = noSniff
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

// All answers have these values of headers in common. Nobody may change them.
var (
	isJSON  = []string{"application/json"}
	noSniff = []string{"nosniff"}
)

// RefusalHeaders sets WWW-Authenticate or Retry-After where the error needs it.
func RefusalHeaders(h http.Header, told *errata.Error) {
	if told.Kind == errata.KindUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if Passing(told.Kind) {
		h.Set("Retry-After", strconv.Itoa(RetrySeconds(told)))
	}
}

// OnlyPost refuses methods other than POST. allow lists all methods of the path, as
// in the header Allow.
func OnlyPost(w http.ResponseWriter, r *http.Request, allow string) error {
	if r.Method == http.MethodPost {
		return nil
	}
	w.Header().Set("Allow", allow)
	return errata.Errorf(errata.KindMethodNotAllowed, "the method must be POST")
}

// Malformed is the error for a body that breaks the protocol.
func Malformed(what string) *errata.Error { return errata.Errorf(errata.KindInvalidBody, "%s", what) }

// Rejection is a part of a request that was refused, as the sender sees it.
type Rejection struct {
	Index   int         `json:"index"` // in the request, from 0
	Code    errata.Kind `json:"code"`
	Message string      `json:"message"`
	err     *errata.Error
}

// Rejected makes the rejection of the part at the index.
func Rejected(index int, err *errata.Error) Rejection {
	return Rejection{index, err.Kind, err.Message, err}
}

// NothingTaken is the error for a request whose parts were all refused. A single
// part gives its own error. If all parts are broken JSON, or may be sent again later,
// the error has their kind, else the given one. one and many are the words for a part
// and several parts.
func NothingTaken(kind errata.Kind, one, many string, rejected []Rejection) *errata.Error {
	if len(rejected) == 0 {
		return errata.Errorf(kind, "the body holds no %s", one)
	}
	first := rejected[0].err
	if len(rejected) == 1 {
		return first
	}
	other := func(r Rejection) bool { return r.Code != first.Kind }
	if !slices.ContainsFunc(rejected, other) && (first.Kind == errata.KindInvalidBody || Passing(first.Kind)) {
		kind = first.Kind
	}
	told := errata.Errorf(kind, "none of the %d %s can be taken; details has the reason for each", len(rejected), many)
	told.RetryAfter, told.Details = first.RetryAfter, rejected
	return told
}

// Told is err as the sender may see it. An unknown error becomes internal. An error
// that passes with time gets a RetryAfter.
func Told(err error) *errata.Error {
	told, known := errors.AsType[*errata.Error](err)
	if !known {
		told = errata.Errorf(errata.KindInternal, "the request could not be handled; the operator's log has the reason")
	}
	if told.RetryAfter <= 0 && Passing(told.Kind) {
		waiting := *told
		waiting.RetryAfter = defaultRetry
		return &waiting
	}
	return told
}

// defaultRetry is how long a sender waits if the error does not say it. A restart of
// the log takes less.
const defaultRetry = 5 * time.Second

// Passing says whether an error of the kind passes with time.
func Passing(kind errata.Kind) bool {
	status := httpstatus.Of(kind)
	return status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests
}

// RetrySeconds is RetryAfter in whole seconds, rounded up, at least 1.
func RetrySeconds(e *errata.Error) int {
	return max(1, int((e.RetryAfter+time.Second-1)/time.Second))
}

// requestID is the id that a handler in front of the receiver gave the request, or a
// new one. The answer has it in a header.
func (d *Door) requestID(w http.ResponseWriter) string {
	const header = "X-Request-Id"
	id := w.Header().Get(header)
	if id == "" {
		id = d.NewID()
		w.Header().Set(header, id)
	}
	return id
}

// randomID makes an id of 128 random bits. crypto/rand never fails.
func randomID() string {
	var id [16]byte
	_, _ = rand.Read(id[:])
	return hex.EncodeToString(id[:])
}
