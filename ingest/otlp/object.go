package otlp

import (
	"slices"
	"strings"

	"github.com/go-faster/jx"

	"github.com/errata-log/errata/ingest"
)

// maxObject bounds the JSON of attributes that have no field, in bytes. Less is kept.
const maxObject = 4 * ingest.MaxExtra

// objectOf is a JSON object of the attributes, nil for none. Of those with one key the
// last counts. whole is false when there was not room for all.
func objectOf(attrs []attr) (object []byte, whole bool) {
	if len(attrs) == 0 {
		return nil, true
	}
	var w jx.Writer
	w.ObjStart()
	whole = true
	for i, a := range attrs {
		if a.value.kind == absent || strings.HasPrefix(a.key, "telemetry.") ||
			slices.ContainsFunc(attrs[i+1:], func(later attr) bool { return later.key == a.key }) {
			continue
		}
		var e jx.Encoder
		a.value.write(&e, 0)
		if len(w.Buf)+len(a.key)+len(e.Bytes()) > maxObject {
			whole = false
			continue
		}
		if len(w.Buf) > len("{") {
			w.Comma()
		}
		w.FieldStart(strings.ToValidUTF8(keep(a.key), "\ufffd"))
		w.Raw(e.Bytes())
	}
	w.ObjEnd()
	if len(w.Buf) == len("{}") {
		return nil, whole
	}
	return w.Buf, whole
}
