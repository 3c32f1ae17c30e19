package exchange

import (
	"encoding/json"
	"net/http"
	"strconv"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest/door"
)

// HeaderRecorded says in every answer of success how many entries were
// recorded; 0 while the log is switched off.
const HeaderRecorded = "X-Errata-Recorded"

// accept answers a request of which at least one entry was good.
func accept(w http.ResponseWriter, out outcome) {
	type data struct {
		Accepted int         `json:"accepted"`
		Recorded int         `json:"recorded"`
		Rejected []rejection `json:"rejected"`
	}
	if out.rejected == nil {
		out.rejected = []rejection{} // a list also where it is empty
	}
	w.Header().Set(HeaderRecorded, strconv.Itoa(out.recorded))
	write(w, http.StatusOK, map[string]any{"data": data{out.accepted, out.recorded, out.rejected}})
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
	write(w, told.Kind.Status(), map[string]any{"error": body{told.Kind, told.Message, told.Details, requestID}})
}

func write(w http.ResponseWriter, status int, answer any) {
	text, err := json.Marshal(answer)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}
