package otlp

import (
	"bytes"
	"errors"
	"mime"
	"net/http"
	"strconv"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/body"
	"github.com/errata-log/errata/ingest/body/door"
	"github.com/errata-log/errata/ingest/sentry"
)

// Config is what the door needs.
type Config = door.Config

// Patterns are the paths to mount the handler at, for any method.
var Patterns = []string{
	"/v1/logs", "/v1/logs/", "/v1/traces", "/v1/traces/", "/v1/metrics", "/v1/metrics/",
	"/api/{project}/integration/otlp/v1/logs", "/api/{project}/integration/otlp/v1/logs/",
	"/api/{project}/integration/otlp/v1/traces", "/api/{project}/integration/otlp/v1/traces/",
}

const (
	// maxOpen bounds the body after decompression, as the OTLP specification
	// does. The body is held whole: protobuf is walked in place.
	maxOpen = 20 << 20
	// maxErrors bounds the errors of one request, so that it stays within
	// 64 MiB. Collectors send 8,192 records at once, seldom all errors.
	maxErrors = 20000
)

// Handler serves OTLP over HTTP. It is safe for concurrent use.
type Handler struct{ door *door.Door }

// New makes the handler. The error names the field of cfg that is wrong.
func New(cfg Config) (*Handler, error) {
	d, err := door.New("otlp", cfg)
	if err != nil {
		return nil, err
	}
	return &Handler{door: d}, nil
}

// ServeHTTP takes one request. It answers when the errors are on disk.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req := request{encoding: encodingOf(r.Header)}
	partial, err := h.take(w, r, &req)
	h.door.Done(r.Context(), w.Header().Get("X-Request-Id"), err)
	if err != nil {
		refuse(w, req.encoding, door.Told(err))
		return
	}
	answer(w, req, partial)
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

// request is what has to be known of a request to answer it.
type request struct {
	signal   *signal
	encoding encoding
}

// partialSuccess tells of records that were not kept and never will be.
type partialSuccess struct {
	rejected int
	message  string
}

func (h *Handler) take(w http.ResponseWriter, r *http.Request, req *request) (partialSuccess, error) {
	var project string
	req.signal, project = route(r.URL.Path)
	if req.signal == nil {
		return partialSuccess{}, errata.Errorf(errata.KindNotFound, "there is no such path; it is /v1/logs, /v1/traces or /v1/metrics")
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return partialSuccess{}, errata.Errorf(errata.KindMethodNotAllowed, "the method must be POST")
	}
	grant, err := h.grant(r, project)
	if err != nil {
		return partialSuccess{}, err
	}
	if req.encoding == foreign {
		return partialSuccess{}, errata.Errorf(errata.KindUnsupportedMediaType, "the content type must be application/x-protobuf or application/json")
	}
	b, err := h.door.Open(w, r, maxOpen)
	if err != nil {
		return partialSuccess{}, err
	}
	defer b.Close()
	buf := body.GetBuffer()
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
	found := finder{signal: req.signal, body: b}
	if err := found.read(buf.B, req.encoding); err != nil {
		return partialSuccess{}, err
	}
	return h.accept(w, r, grant, found.drafts)
}

// accept stores the drafts, some at a time. When a later part fails the
// exporter sends all again, and the first part is recognised by its ids.
func (h *Handler) accept(w http.ResponseWriter, r *http.Request, grant ingest.Grant, drafts []ingest.Draft) (partialSuccess, error) {
	var partial partialSuccess
	var recorded, dropped int
	for len(drafts) > 0 {
		part := drafts[:min(len(drafts), ingest.MaxBatch)]
		drafts = drafts[len(part):]
		receipt, err := h.door.Accept(r.Context(), grant, part)
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
		w.Header().Set(ingest.HeaderRecorded, strconv.Itoa(recorded))
	}
	return partial, nil
}

// grant asks the keyring: for the project's public key on the Sentry path, for
// an API key everywhere.
func (h *Handler) grant(r *http.Request, project string) (ingest.Grant, error) {
	if project != "" {
		if key, ok := sentry.PublicKey(r); ok {
			number, err := strconv.ParseUint(project, 10, 64)
			if err != nil {
				return ingest.Grant{}, errata.Errorf(errata.KindNotFound, "the project must be a number")
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
