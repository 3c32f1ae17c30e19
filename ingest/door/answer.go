package door

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/httpstatus"
)

// Headers of answers.
const (
	// HeaderRecorded tells how many events or entries of the request are on disk.
	// Receivers with a protocol of ours send it with every 2xx; the others when
	// events were dropped, because their clients know only their protocol.
	HeaderRecorded = "X-Errata-Recorded"
	// HeaderDevelopment is "1" in native answers while development is on.
	HeaderDevelopment = "X-Errata-Development"
)

// Data is the envelope of an answer.
type Data[T any] struct {
	Data T `json:"data"`
}

// Serve answers a request in our own form: with the status and the [Data] that
// take returns, or with the API's error envelope.
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
		// Only an error's Details can be what JSON does not know.
		status, text = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","message":"the answer could not be written"}}`)
	}
	Write(w, status, "application/json", append(text, '\n'))
}

// Write answers with a text of the content type.
func Write(w http.ResponseWriter, status int, contentType string, text []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

// RefusalHeaders say which key is wanted, or when to come back.
func RefusalHeaders(h http.Header, told *errata.Error) {
	if told.Kind == errata.KindUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if Passing(told.Kind) {
		h.Set("Retry-After", strconv.Itoa(RetrySeconds(told)))
	}
}

// OnlyPost refuses other methods than POST. allow are all methods that the path
// has.
func OnlyPost(w http.ResponseWriter, r *http.Request, allow string) error {
	if r.Method == http.MethodPost {
		return nil
	}
	w.Header().Set("Allow", allow)
	return errata.Errorf(errata.KindMethodNotAllowed, "the method must be POST")
}

// Malformed is the error for a body that breaks the protocol.
func Malformed(what string) *errata.Error { return errata.Errorf(errata.KindInvalidBody, "%s", what) }

// Rejection is a part of a request that was not taken, as it is shown.
type Rejection struct {
	Index   int         `json:"index"` // in the request, from 0
	Code    errata.Kind `json:"code"`
	Message string      `json:"message"`
	err     *errata.Error
}

// Rejected is the rejection of the part at the index.
func Rejected(index int, err *errata.Error) Rejection {
	return Rejection{index, err.Kind, err.Message, err}
}

// NothingTaken is the error for a request of which not one part was taken. A
// single part gives its own reason; broken JSON alone is a broken body; a refusal
// that will pass by waiting must not look as if it would not; any other mixture
// has the given kind. one and many are what the parts are called.
func NothingTaken(kind errata.Kind, one, many string, rejected []Rejection) *errata.Error {
	if len(rejected) == 0 {
		return errata.Errorf(kind, "the body holds no %s", one)
	}
	first := rejected[0].err
	if len(rejected) == 1 {
		return first
	}
	same := true
	for _, r := range rejected {
		same = same && r.Code == first.Kind
	}
	if same && (first.Kind == errata.KindInvalidBody || Passing(first.Kind)) {
		kind = first.Kind
	}
	told := errata.Errorf(kind, "none of the %d %s can be taken; details has the reason for each", len(rejected), many)
	told.RetryAfter, told.Details = first.RetryAfter, rejected
	return told
}

// Told is err as the sender may see it: unknown errors become internal, and a
// refusal that will pass says when.
func Told(err error) *errata.Error {
	var told *errata.Error
	if !errors.As(err, &told) {
		told = errata.Errorf(errata.KindInternal, "the request could not be handled; the operator's log has the reason")
	}
	if told.RetryAfter <= 0 && Passing(told.Kind) {
		waiting := *told
		waiting.RetryAfter = defaultRetry
		return &waiting
	}
	return told
}

// defaultRetry is how long a sender waits when nobody said: a restart of the
// log takes less.
const defaultRetry = 5 * time.Second

// Passing says whether a refusal of the kind will pass by waiting.
func Passing(kind errata.Kind) bool {
	status := httpstatus.Of(kind)
	return status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests
}

// RetrySeconds is the wait in whole seconds, at least 1.
func RetrySeconds(e *errata.Error) int {
	return max(1, int((e.RetryAfter+time.Second-1)/time.Second))
}

// requestID is the id that somebody in front of the receiver gave the request, or
// a new one. It is sent with the answer.
func (d *Door) requestID(w http.ResponseWriter) string {
	const header = "X-Request-Id"
	id := w.Header().Get(header)
	if id == "" {
		id = d.NewID()
		w.Header().Set(header, id)
	}
	return id
}

// randomID is 128 bits from the system's generator, which never fails.
func randomID() string {
	var id [16]byte
	_, _ = rand.Read(id[:])
	return hex.EncodeToString(id[:])
}
