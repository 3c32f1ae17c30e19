package native

import (
	"net/http"
	"slices"
	"strconv"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
)

// Config is what the receiver needs.
type Config = door.Config

// maxOpen bounds the body after decompression, in bytes. It is no higher than the
// limit of a compressed body, because all of it stays in memory until the events
// are on disk.
const maxOpen = ingest.MaxWireBody

// Handler serves the native protocol. It is safe for concurrent use.
type Handler struct{ door *door.Door }

// New makes the handler. The error names the field of cfg that is wrong.
func New(cfg Config) (*Handler, error) {
	d, err := door.New("native", cfg)
	if err != nil {
		return nil, err
	}
	return &Handler{door: d}, nil
}

// ServeHTTP takes one request. It answers when the events are on disk.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.door.Serve(w, r, http.StatusAccepted, h.take)
}

func (h *Handler) take(w http.ResponseWriter, r *http.Request) (any, error) {
	if err := door.OnlyPost(w, r, http.MethodPost); err != nil {
		return nil, err
	}
	grant, err := h.grant(r)
	if err != nil {
		return nil, err
	}
	if err := h.door.Admit(grant); err != nil {
		return nil, err
	}
	if h.door.Switches().Development {
		w.Header().Set(door.HeaderDevelopment, "1")
	}
	b, err := h.door.Open(w, r, grant, maxOpen)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	batch := newBatch(b)
	defer batch.free()
	if err := batch.read(); err != nil {
		return nil, err
	}
	return h.accept(w, r, grant, batch)
}

// accept stores the drafts and answers with the number of accepted events.
func (h *Handler) accept(w http.ResponseWriter, r *http.Request, grant access.Grant, t *batch) (any, error) {
	type outcome struct {
		Accepted int                 `json:"accepted"` // on the log, or dropped while recording is switched off or by a noise rule
		Rejected []door.Rejection    `json:"rejected"`
		Adjusted []ingest.Adjustment `json:"adjusted"`
	}
	rejected, adjusted := append([]door.Rejection{}, t.rejected...), []ingest.Adjustment{} // never null in the answer
	var receipt ingest.Receipt
	if len(t.drafts) > 0 {
		ctx, written := errata.WithWritten(r.Context())
		var err error
		if receipt, err = h.door.Accept(ctx, t.body, grant, t.drafts); err != nil {
			return nil, err
		}
		if last := written.Last(); last != 0 {
			w.Header().Set(door.HeaderPosition, strconv.FormatUint(last, 10))
		}
		for _, x := range receipt.Rejected {
			rejected = append(rejected, door.Rejected(t.indexes[x.Index], x.Err))
		}
		for _, x := range receipt.Adjusted {
			x.Index = t.indexes[x.Index]
			adjusted = append(adjusted, x)
		}
		slices.SortStableFunc(rejected, func(a, b door.Rejection) int { return a.Index - b.Index })
	}
	taken := receipt.Accepted + receipt.Dropped + receipt.Noise
	if taken == 0 {
		return nil, door.NothingTaken(errata.KindInvalidEvent, "event", "events", rejected)
	}
	w.Header().Set(door.HeaderRecorded, strconv.Itoa(receipt.Accepted))
	return door.Data[outcome]{Data: outcome{taken, rejected, adjusted}}, nil
}

// grant finds the key: an API key, or the public key and the project of a DSN,
// which stand in Basic authorization as user and password.
func (h *Handler) grant(r *http.Request) (access.Grant, error) {
	public, project, ok := r.BasicAuth()
	if !ok || r.Header.Get("X-Api-Key") != "" { // Basic may be for a proxy
		return h.door.ByToken(r)
	}
	number, err := strconv.ParseUint(project, 10, 64)
	if err != nil {
		return access.Grant{}, errata.Errorf(errata.KindUnauthorized, "Basic authorization takes the key of a DSN as user and its project's number as password")
	}
	return h.door.ByPublicKey(public, number)
}
