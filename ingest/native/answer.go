package native

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
)

// describedRejection is a rejection as it is shown.
type describedRejection struct {
	Index   int         `json:"index"`
	Code    errata.Kind `json:"code"`
	Message string      `json:"message"`
}

// described lists rejections by index. It is never nil, so that JSON has a list.
func described(rejected []rejection) []describedRejection {
	list := make([]describedRejection, len(rejected))
	for i, r := range rejected {
		list[i] = describedRejection{r.index, r.err.Kind, r.err.Message}
	}
	slices.SortStableFunc(list, func(a, b describedRejection) int { return a.Index - b.Index })
	return list
}

// accept answers a request of which at least one event was taken.
func accept(w http.ResponseWriter, out outcome) {
	type data struct {
		Accepted int                  `json:"accepted"`
		Rejected []describedRejection `json:"rejected"`
	}
	w.Header().Set(ingest.HeaderRecorded, strconv.Itoa(out.recorded))
	write(w, http.StatusAccepted, struct {
		Data data `json:"data"`
	}{data{out.recorded + out.dropped, described(out.rejected)}})
}

// refuse answers with the API's error envelope.
func refuse(w http.ResponseWriter, requestID string, told *errata.Error) {
	type body struct {
		Code      errata.Kind `json:"code"`
		Message   string      `json:"message"`
		Details   any         `json:"details,omitempty"`
		RequestID string      `json:"request_id"`
	}
	if told.Kind == errata.KindUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if door.Passing(told.Kind) {
		w.Header().Set("Retry-After", strconv.Itoa(door.RetrySeconds(told)))
	}
	write(w, told.Kind.Status(), struct {
		Error body `json:"error"`
	}{body{told.Kind, told.Message, told.Details, requestID}})
}

func write(w http.ResponseWriter, status int, answer any) {
	text, err := json.Marshal(answer) // also escapes <, > and &
	if err != nil {
		// Only an error's Details can be what JSON does not know.
		status, text = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","message":"the answer could not be written"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}
