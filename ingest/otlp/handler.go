package otlp

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
)

// Config is what the receiver needs.
type Config struct {
	door.Config
	// SpanExceptions says how the exceptions of spans count; "" is Dedupe.
	SpanExceptions SpanExceptions
}

const (
	// maxOpen bounds the body after decompression, as the OTLP specification
	// does. The whole body stays in memory, and protobuf is read in place.
	maxOpen = 20 << 20
	// maxErrors bounds the errors of one request, so that it stays within
	// 64 MiB. Collectors send 8,192 records at once; few of them are errors.
	maxErrors = 20000
	// maxRecords bounds all records of a request. As many records of 200 bytes
	// fill the largest body; real records are larger.
	maxRecords = 100_000
	// maxDrafts bounds the memory of the errors of a request, in bytes. Without
	// it, a few kilobytes on a span could be stored with each of its exceptions.
	// The largest body and the most errors fit.
	maxDrafts = 48 << 20
	// maxPart bounds the drafts that go to the log at once, in bytes.
	maxPart = 4 << 20
)

// Handler serves OTLP over HTTP. It is safe for concurrent use.
type Handler struct {
	door  *door.Door
	spans SpanExceptions
	pairs *pairs // nil: every record is an error of its own
	drops *prometheus.CounterVec
}

// New makes the handler. The error names the field of cfg that is wrong.
func New(cfg Config) (*Handler, error) {
	d, err := door.New("otlp", cfg.Config)
	if err != nil {
		return nil, err
	}
	h := &Handler{door: d}
	if h.spans, err = ParseSpanExceptions(string(cfg.SpanExceptions)); err != nil {
		return nil, fmt.Errorf("otlp door: SpanExceptions: %w", err)
	}
	if h.drops, err = newDrops(cfg.Registerer); err != nil {
		return nil, fmt.Errorf("otlp door: %w", err)
	}
	if h.spans == Dedupe {
		h.pairs = newPairs(d.Now, h.drops)
	}
	return h, nil
}

// ServeHTTP takes one request. It answers when the errors are on disk.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req := request{encoding: encodingOf(r.Header)}
	partial, err := h.guarded(w, r, &req)
	h.door.Done(r.Context(), w.Header().Get("X-Request-Id"), err)
	if err != nil {
		refuse(w, req.encoding, door.Told(err))
		return
	}
	answer(w, req, partial)
}

// guarded calls take and turns a panic into an error: the sender gets an answer
// in the protocol's form, and the operator's log gets the stack.
func (h *Handler) guarded(w http.ResponseWriter, r *http.Request, req *request) (_ partialSuccess, err error) {
	defer func() {
		caught := recover()
		if caught == nil {
			return
		}
		if caught == http.ErrAbortHandler { // it ends the connection on purpose
			panic(caught)
		}
		err = fmt.Errorf("panic: %v\n%s", caught, debug.Stack())
	}()
	return h.take(w, r, req)
}

// Only serves /v1/logs, /v1/traces and /v1/metrics and nothing else. It is for a
// listener of its own.
func (h *Handler) Only() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch strings.TrimSuffix(r.URL.Path, "/") {
		case logs.path, traces.path, metrics.path:
			h.ServeHTTP(w, r)
		default:
			err := noSuchPath()
			h.door.Done(r.Context(), "", err)
			refuse(w, encodingOf(r.Header), err)
		}
	})
}

func noSuchPath() *errata.Error {
	return errata.Errorf(errata.KindNotFound, "there is no such path; it is /v1/logs, /v1/traces or /v1/metrics")
}

// encoding is the encoding of a request and of its answer.
type encoding int

const (
	unsaid encoding = iota
	protobuf
	jsonText
	foreign
)

func encodingOf(h http.Header) encoding {
	said := h.Get("Content-Type")
	if said == "" {
		return unsaid
	}
	kind, _, err := mime.ParseMediaType(said)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return foreign
	}
	switch kind {
	case "application/x-protobuf", "application/protobuf":
		return protobuf
	case "application/json":
		return jsonText
	default:
		return foreign
	}
}

// request holds what the answer depends on.
type request struct {
	signal   *signal
	encoding encoding
}

// partialSuccess says how many records were rejected for good, and why.
type partialSuccess struct {
	rejected int
	message  string
}

func (h *Handler) take(w http.ResponseWriter, r *http.Request, req *request) (partialSuccess, error) {
	var project string
	req.signal, project = route(r.URL.Path)
	if req.signal == nil {
		return partialSuccess{}, noSuchPath()
	}
	if err := door.OnlyPost(w, r, http.MethodPost); err != nil {
		return partialSuccess{}, err
	}
	grant, err := h.grant(r, project)
	if err != nil {
		return partialSuccess{}, err
	}
	open := h.door.OpenFree // metrics hold no events
	if req.signal != &metrics {
		if err := h.door.Admit(grant); err != nil {
			return partialSuccess{}, err
		}
		open = h.door.Open
	}
	if req.encoding == foreign {
		return partialSuccess{}, errata.Errorf(errata.KindUnsupportedMediaType, "the content type must be application/x-protobuf or application/json")
	}
	b, err := open(w, r, grant, maxOpen)
	if err != nil {
		return partialSuccess{}, err
	}
	defer b.Close()
	buf := door.GetBuffer()
	defer buf.Free()
	if err := b.ReadAll(buf, maxOpen); err != nil {
		return partialSuccess{}, err
	}
	if req.encoding == unsaid {
		req.encoding = protobuf
		if bytes.HasPrefix(bytes.TrimLeft(buf.B, " \t\r\n"), []byte("{")) {
			req.encoding = jsonText
		}
	}
	if req.signal == &metrics {
		return countPoints(buf.B, req.encoding)
	}
	found := finder{signal: req.signal, body: b, project: grant.Project, pairs: h.pairs}
	if err := found.read(buf.B, req.encoding); err != nil {
		return partialSuccess{}, err
	}
	if req.signal == &traces && h.spans == Off {
		h.drops.WithLabelValues(dropOff).Add(float64(len(found.drafts)))
		return partialSuccess{}, nil
	}
	return h.accept(w, r, grant, &found)
}

// accept stores the drafts, some at a time. When a later part fails, the exporter
// resends all of them, and those on the log count once by their ids.
func (h *Handler) accept(w http.ResponseWriter, r *http.Request, grant access.Grant, found *finder) (partialSuccess, error) {
	var partial partialSuccess
	var recorded, dropped int
	for len(found.drafts) > 0 {
		part := found.nextPart()
		receipt, err := h.door.Accept(r.Context(), found.body, grant, part)
		if err != nil {
			return partialSuccess{}, err
		}
		recorded += receipt.Accepted
		dropped += receipt.Dropped
		for _, rejected := range receipt.Rejected {
			if door.Passing(rejected.Err.Kind) {
				return partialSuccess{}, rejected.Err
			}
			partial.rejected++
			partial.message = rejected.Err.Message
		}
	}
	if dropped > 0 {
		w.Header().Set(door.HeaderRecorded, strconv.Itoa(recorded))
	}
	return partial, nil
}

// nextPart removes the first drafts, as many as may go to the log at once.
func (f *finder) nextPart() []ingest.Draft {
	n, weight := 0, 0
	for n < min(len(f.drafts), ingest.MaxBatch) && (n == 0 || weight+f.weights[n] <= maxPart) {
		weight += f.weights[n]
		n++
	}
	part := f.drafts[:n]
	f.drafts, f.weights = f.drafts[n:], f.weights[n:]
	return part
}

// grant finds the key: the public key of the project on the Sentry path, or an
// API key on every path.
func (h *Handler) grant(r *http.Request, project string) (access.Grant, error) {
	if project != "" {
		if key, ok := door.PublicKey(r); ok {
			number, err := strconv.ParseUint(project, 10, 64)
			if err != nil {
				return access.Grant{}, errata.Errorf(errata.KindNotFound, "the project must be a number")
			}
			return h.door.ByPublicKey(key, number)
		}
	}
	return h.door.ByToken(r)
}

// route splits the path into its signal and, on the Sentry path, the project.
func route(path string) (s *signal, project string) {
	path = strings.TrimSuffix(path, "/")
	for _, s := range []*signal{&logs, &traces, &metrics} {
		before, ok := strings.CutSuffix(path, s.path)
		if !ok {
			continue
		}
		if before, ok = strings.CutSuffix(before, "/integration/otlp"); ok {
			slash := strings.LastIndexByte(before, '/')
			return s, before[slash+1:]
		}
		return s, ""
	}
	return nil, ""
}
