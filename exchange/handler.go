package exchange

import (
	"cmp"
	"crypto/rand"
	"errors"
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
)

// Config is what a handler needs. Door's Accepter is not used.
type Config struct {
	Door   door.Config
	Stream Stream
	// Rules scrub the texts and normalise file names, as for events.
	Rules ingest.Rules
	// Switches is called once for each request.
	Switches func() errata.Logging
	// Ready returns nil when entries may be put on the stream, else the error for
	// the sender. Before the writer knows how far the logs are written, a
	// sequence could be used twice. A nil function means always.
	Ready func() error
}

// Handler takes entries of one log. It is safe for concurrent use.
type Handler struct {
	log     Log
	cfg     Config
	door    *door.Door
	entries *prometheus.CounterVec
}

// NewHandler makes the handler of a log, to be mounted at
// /api/v1/logs/modules or /api/v1/logs/queries for any method. The error names
// the field of cfg that is wrong.
func NewHandler(log Log, cfg Config) (*Handler, error) {
	if cfg.Switches == nil {
		return nil, errors.New("exchange: Switches is missing")
	}
	if err := cfg.Stream.validate(); err != nil {
		return nil, err
	}
	d, err := door.Keyed(log.String(), cfg.Door)
	if err != nil {
		return nil, err
	}
	entries, err := newEntries(cfg.Door.Registerer)
	if err != nil {
		return nil, err
	}
	return &Handler{log: log, cfg: cfg, door: d, entries: entries}, nil
}

// ServeHTTP takes one request. It answers when the recorded entries are on disk.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.door.Serve(w, r, http.StatusOK, h.take)
}

// outcome is the answer to a request.
type outcome struct {
	Accepted int              `json:"accepted"`
	Recorded int              `json:"recorded"`
	Rejected []door.Rejection `json:"rejected"`
}

func (h *Handler) take(w http.ResponseWriter, r *http.Request) (any, error) {
	if err := door.OnlyPost(w, r, http.MethodPost); err != nil {
		return nil, err
	}
	grant, err := h.door.ByToken(r)
	if err != nil {
		return nil, err
	}
	b, err := h.door.OpenFree(w, r, grant, maxOpen)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	buf := door.GetBuffer()
	defer buf.Free()
	if err := b.ReadAll(buf, maxOpen); err != nil {
		return nil, err
	}
	// The drafts have copies of the texts, and the entries have others.
	if err := b.Charge(2 * len(buf.B)); err != nil {
		return nil, err
	}
	parts, err := split(buf.B)
	if err != nil {
		return nil, err
	}
	drafts, rejected := h.parse(parts)
	if len(drafts) == 0 {
		return nil, nothingTaken(rejected)
	}
	recorded, err := h.record(r, grant, drafts)
	if err != nil {
		return nil, err
	}
	w.Header().Set(door.HeaderRecorded, strconv.Itoa(recorded))
	return door.Data[outcome]{Data: outcome{len(drafts), recorded, rejected}}, nil
}

// parse reads the entries and counts those that cannot be taken.
func (h *Handler) parse(parts []part) (drafts []draft, rejected []door.Rejection) {
	rejected = []door.Rejection{} // never null in the answer
	for i, p := range parts {
		d, refused := parse(h.log, p)
		if refused != nil {
			rejected = append(rejected, door.Rejected(i, refused))
			continue
		}
		drafts = append(drafts, d)
	}
	h.count(outcomeRejected, len(rejected))
	return drafts, rejected
}

// record puts the entries to be recorded on the stream, and returns their number.
func (h *Handler) record(r *http.Request, grant access.Grant, drafts []draft) (int, error) {
	switches := h.cfg.Switches()
	if on := map[Log]bool{Modules: switches.ModuleLog, Queries: switches.QueryLogging}[h.log]; !on {
		h.count(outcomeSwitchedOff, len(drafts))
		return 0, nil
	}
	sender := h.door.Sender(r)
	c := cleaner{h.log, &h.cfg.Rules}
	received := h.door.Now()
	var entries []entry
	for i := range drafts {
		if h.log == Queries && !switches.QueryAllowed(cmp.Or(drafts[i].ip, sender)) {
			continue
		}
		entries = append(entries, c.clean(&drafts[i], grant.Project, received))
	}
	if len(entries) > 0 {
		if h.cfg.Ready != nil {
			if err := h.cfg.Ready(); err != nil {
				return 0, err
			}
		}
		if err := h.cfg.Stream.publish(r.Context(), h.log, rand.Text(), entries); err != nil {
			return 0, err
		}
	}
	h.count(outcomeRecorded, len(entries))
	h.count(outcomeAddress, len(drafts)-len(entries))
	return len(entries), nil
}

func (h *Handler) count(outcome string, n int) {
	h.entries.WithLabelValues(h.log.String(), outcome).Add(float64(n))
}

// nothingTaken is the error for a request without a good entry. It has the reason
// of a single entry, and always the details.
func nothingTaken(rejected []door.Rejection) error {
	told := *door.NothingTaken(errata.KindInvalidEntry, "entry", "entries", rejected)
	if len(rejected) > 0 {
		told.Details = rejected
	}
	return &told
}
