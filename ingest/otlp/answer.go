package otlp

import (
	"cmp"
	"net/http"
	"strconv"

	"github.com/VictoriaMetrics/easyproto"
	"github.com/go-faster/jx"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/internal/httpstatus"
)

// answer writes the export response in the encoding of the request: empty, or
// with a partial success.
func answer(w http.ResponseWriter, req request, partial partialSuccess) {
	var text []byte
	if req.encoding == jsonText {
		text = []byte("{}")
	}
	if partial.rejected > 0 {
		text = partial.encode(req)
	}
	write(w, req.encoding, http.StatusOK, text)
}

// encode is the response's partial_success: field 1, with the number as field
// 1 and the message as field 2, for all three signals.
func (p partialSuccess) encode(req request) []byte {
	if req.encoding == jsonText {
		var e jx.Encoder
		e.Obj(func(e *jx.Encoder) {
			e.Field("partialSuccess", func(e *jx.Encoder) {
				e.Obj(func(e *jx.Encoder) {
					// JSON protobuf writes 64-bit numbers as strings.
					e.Field(req.signal.rejected, func(e *jx.Encoder) { e.Str(strconv.Itoa(p.rejected)) })
					e.Field("errorMessage", func(e *jx.Encoder) { e.Str(p.message) })
				})
			})
		})
		return e.Bytes()
	}
	var m easyproto.Marshaler
	inner := m.MessageMarshaler().AppendMessage(1)
	inner.AppendInt64(1, int64(p.rejected))
	inner.AppendString(2, p.message)
	return m.Marshal(nil)
}

// refuse writes a google.rpc.Status in the encoding of the request.
func refuse(w http.ResponseWriter, enc encoding, told *errata.Error) {
	// OTel Python drops the data on 429 and retries on 503. Only a sender over its
	// quota gets 429.
	status := httpstatus.Of(told.Kind)
	door.RefusalHeaders(w.Header(), told)
	code := cmp.Or(grpcCodes[status], 13) // INTERNAL
	if enc == jsonText {
		var e jx.Encoder
		e.Obj(func(e *jx.Encoder) {
			e.Field("code", func(e *jx.Encoder) { e.Int(code) })
			e.Field("message", func(e *jx.Encoder) { e.Str(told.Message) })
		})
		write(w, enc, status, e.Bytes())
		return
	}
	var m easyproto.Marshaler
	root := m.MessageMarshaler()
	root.AppendInt32(1, int32(code))
	root.AppendString(2, told.Message)
	write(w, enc, status, m.Marshal(nil))
}

// grpcCodes are the codes of google.rpc.Code for HTTP statuses.
var grpcCodes = map[int]int{
	http.StatusBadRequest:            3,  // INVALID_ARGUMENT
	http.StatusUnprocessableEntity:   3,  // INVALID_ARGUMENT
	http.StatusUnsupportedMediaType:  3,  // INVALID_ARGUMENT
	http.StatusNotFound:              5,  // NOT_FOUND
	http.StatusForbidden:             7,  // PERMISSION_DENIED
	http.StatusRequestEntityTooLarge: 8,  // RESOURCE_EXHAUSTED
	http.StatusTooManyRequests:       8,  // RESOURCE_EXHAUSTED
	http.StatusMethodNotAllowed:      12, // UNIMPLEMENTED
	http.StatusServiceUnavailable:    14, // UNAVAILABLE
	http.StatusUnauthorized:          16, // UNAUTHENTICATED
}

func write(w http.ResponseWriter, enc encoding, status int, text []byte) {
	kind := "application/x-protobuf"
	if enc == jsonText {
		kind = "application/json"
	}
	door.Write(w, status, kind, text)
}
