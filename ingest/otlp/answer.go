package otlp

import (
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
	// OTel Python drops what gets 429 and keeps what gets 503, which is right for
	// who sends too much, and for nobody else: no other kind has that status.
	status := httpstatus.Of(told.Kind)
	door.RefusalHeaders(w.Header(), told)
	code := grpcCode(status)
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

// grpcCode is the code of google.rpc.Code that belongs to the HTTP status.
func grpcCode(status int) int {
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusUnsupportedMediaType:
		return 3 // INVALID_ARGUMENT
	case http.StatusNotFound:
		return 5 // NOT_FOUND
	case http.StatusForbidden:
		return 7 // PERMISSION_DENIED
	case http.StatusRequestEntityTooLarge, http.StatusTooManyRequests:
		return 8 // RESOURCE_EXHAUSTED
	case http.StatusMethodNotAllowed:
		return 12 // UNIMPLEMENTED
	case http.StatusServiceUnavailable:
		return 14 // UNAVAILABLE
	case http.StatusUnauthorized:
		return 16 // UNAUTHENTICATED
	default:
		return 13 // INTERNAL
	}
}

func write(w http.ResponseWriter, enc encoding, status int, text []byte) {
	kind := "application/x-protobuf"
	if enc == jsonText {
		kind = "application/json"
	}
	door.Write(w, status, kind, text)
}
