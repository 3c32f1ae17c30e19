package native

import (
	"net/http"
	"strconv"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
)

// Config is what the door needs.
type Config = door.Config

// Pattern is the path to mount the handler at, for any method.
const Pattern = "/api/v1/events"

// maxOpen bounds the body after decompression. All of it is kept until the
// events are on disk, so it is the wire's limit and not the larger one.
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
	requestID := h.door.RequestID(w)
	outcome, err := h.take(w, r)
	h.door.Done(r.Context(), requestID, err)
	if err != nil {
		refuse(w, requestID, door.Told(err))
		return
	}
	accept(w, outcome)
}

// outcome is what became of a request's events.
type outcome struct {
	recorded int // on the log
	dropped  int // taken and not kept
	rejected []rejection
}

// rejection is an event that was not taken.
type rejection struct {
	index int
	err   *errata.Error
}

func (h *Handler) take(w http.ResponseWriter, r *http.Request) (outcome, error) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return outcome{}, errata.Errorf(errata.KindMethodNotAllowed, "the method must be POST")
	}
	grant, err := h.grant(r)
	if err != nil {
		return outcome{}, err
	}
	if err := h.door.Admit(grant); err != nil {
		return outcome{}, err
	}
	if h.door.Switches().Development {
		w.Header().Set(ingest.HeaderDevelopment, "1")
	}
	b, err := h.door.Open(w, r, grant, maxOpen)
	if err != nil {
		return outcome{}, err
	}
	defer b.Close()
	batch := newBatch(b)
	defer batch.free()
	if err := batch.read(); err != nil {
		return outcome{}, err
	}
	out := outcome{rejected: batch.rejected}
	if len(batch.drafts) > 0 {
		receipt, err := h.door.Accept(r.Context(), grant, batch.drafts)
		if err != nil {
			return outcome{}, err
		}
		out.recorded, out.dropped = receipt.Accepted, receipt.Dropped
		for _, rejected := range receipt.Rejected {
			out.rejected = append(out.rejected, rejection{batch.indexes[rejected.Index], rejected.Err})
		}
	}
	if out.recorded+out.dropped == 0 {
		return outcome{}, nothingTaken(out.rejected)
	}
	return out, nil
}

// grant asks the keyring: for an API key, or for the public key and the project
// of a DSN, which Basic authorization carries as user and password.
func (h *Handler) grant(r *http.Request) (ingest.Grant, error) {
	public, project, ok := r.BasicAuth()
	if !ok || r.Header.Get("X-Api-Key") != "" { // Basic may be there for a proxy
		return h.door.ByToken(r)
	}
	number, err := strconv.ParseUint(project, 10, 64)
	if err != nil {
		return ingest.Grant{}, errata.Errorf(errata.KindUnauthorized, "Basic authorization takes the key of a DSN as user and its project's number as password")
	}
	return h.door.ByPublicKey(public, number)
}

// nothingTaken is the error for a request without one good event. A single
// event gives its own reason; broken JSON alone is a broken body; a refusal
// that will pass by waiting must not look as if it would not.
func nothingTaken(rejected []rejection) error {
	if len(rejected) == 0 {
		return errata.Errorf(errata.KindInvalidEvent, "the body holds no event")
	}
	first := rejected[0].err
	if len(rejected) == 1 {
		return first
	}
	kind := errata.KindInvalidEvent
	if same(rejected) && (first.Kind == errata.KindInvalidBody || door.Passing(first.Kind)) {
		kind = first.Kind
	}
	e := errata.Errorf(kind, "none of the %d events can be taken; details has the reason for each", len(rejected))
	e.RetryAfter = first.RetryAfter
	e.Details = described(rejected)
	return e
}

func same(rejected []rejection) bool {
	for _, r := range rejected {
		if r.err.Kind != rejected[0].err.Kind {
			return false
		}
	}
	return true
}
