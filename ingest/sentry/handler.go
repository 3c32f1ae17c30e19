package sentry

import (
	"net/http"
	"path"
	"strconv"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/quota"
)

// Config is what the receiver needs.
type Config = door.Config

// Handler serves the Sentry protocol. It is safe for concurrent use.
type Handler struct {
	door   *door.Door
	lost   losses
	echoes *echoes
}

// New makes the handler. The error names the field of cfg that is wrong.
func New(cfg Config) (*Handler, error) {
	d, err := door.New("sentry", cfg)
	if err != nil {
		return nil, err
	}
	h := &Handler{door: d}
	if err := h.lost.register(cfg.Registerer); err != nil {
		return nil, err
	}
	if h.echoes, err = newEchoes(d.Now, cfg.Registerer); err != nil {
		return nil, err
	}
	return h, nil
}

// ServeHTTP takes one request. It answers when the events are on disk.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for i := range cors {
		w.Header()[cors[i].name] = cors[i].value
	}
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusOK)
		return
	}
	id, err := h.take(w, r)
	h.answer(w, r, id, err)
}

// take reads a request and stores its errors. id is the id of its first event,
// "" for none.
func (h *Handler) take(w http.ResponseWriter, r *http.Request) (id string, err error) {
	project, endpoint, ok := route(r.URL.Path)
	if !ok {
		return "", errata.Errorf(errata.KindNotFound, "there is no such path; it is /api/PROJECT/envelope/ or /api/PROJECT/store/")
	}
	if err := door.OnlyPost(w, r, methods); err != nil {
		return "", err
	}
	key, named := door.PublicKey(r)
	if !named && endpoint == "store" {
		return "", noKey()
	}
	var grant access.Grant
	var over error // the key or its project is over its quota
	var b *door.Body
	if named {
		if grant, err = h.door.ByPublicKey(key, project); err != nil {
			return "", err
		}
		if over = h.door.Admit(grant); over != nil && !mayBeReport(r, endpoint) {
			return "", over
		}
		b, err = h.door.Open(w, r, grant, 0)
	} else {
		b, err = h.door.OpenUnknown(w, r, 0)
	}
	if err != nil {
		return "", err
	}
	defer b.Close()
	in := newIntake(b, h.door.Sender(r), h.door.NewID)
	defer in.free()
	if endpoint == "store" {
		err = in.store()
	} else {
		if err = in.header(); err == nil && !named {
			if grant, err = h.identify(r, in, project); err == nil {
				over = h.door.Admit(grant)
			}
		}
		if err == nil {
			err = in.items()
		}
	}
	if err != nil {
		return "", err
	}
	h.lost.count(in.lost)
	kept := h.echoes.once(grant.Project, in)
	if err = h.store(w, r, grant, in, over); err != nil {
		h.echoes.forget(kept)
		return "", err
	}
	return in.firstID, nil
}

// store puts the drafts on the log. over is the refusal of events over a quota, nil for
// none.
func (h *Handler) store(w http.ResponseWriter, r *http.Request, grant access.Grant, in *intake, over error) error {
	if over != nil && len(in.drafts) > 0 {
		return quota.Holding(over, len(in.drafts))
	}
	return h.accept(w, r, grant, in)
}

// identify finds the grant of the key in the envelope's header and charges the
// request to it.
func (h *Handler) identify(r *http.Request, in *intake, project uint64) (access.Grant, error) {
	key := dsnKey(string(in.dsn))
	if key == "" {
		return access.Grant{}, noKey()
	}
	grant, err := h.door.ByPublicKey(key, project)
	if err != nil {
		return access.Grant{}, err
	}
	return grant, h.door.Identify(r, in.body, grant)
}

// accept stores the drafts. The request fails when all of them are rejected.
func (h *Handler) accept(w http.ResponseWriter, r *http.Request, grant access.Grant, in *intake) error {
	if len(in.drafts) == 0 {
		return nil
	}
	receipt, err := h.door.Accept(r.Context(), in.body, grant, in.drafts)
	if err != nil {
		return err
	}
	if receipt.Dropped > 0 {
		sayDropped(w.Header(), receipt.Accepted)
		return nil
	}
	if receipt.Accepted == 0 && len(receipt.Rejected) == len(in.drafts) {
		return receipt.Rejected[0].Err
	}
	return nil
}

// maxReport is the largest envelope, in bytes, that SDKs make for a client report
// alone.
const maxReport = 2 << 10

// mayBeReport says whether the request is small enough to hold only a client
// report. The receiver reads reports from senders over their quota too: they say
// how many events the sender dropped because it had to wait.
func mayBeReport(r *http.Request, endpoint string) bool {
	return endpoint == "envelope" && r.ContentLength > 0 && r.ContentLength <= maxReport
}

func noKey() error {
	return errata.Errorf(errata.KindUnauthorized, "no key was sent; an SDK sends it from its DSN")
}

// route splits "…/api/{project}/{endpoint}[/]".
func route(target string) (project uint64, endpoint string, ok bool) {
	rest, endpoint := path.Split(strings.TrimSuffix(target, "/"))
	rest, digits := path.Split(strings.TrimSuffix(rest, "/"))
	if endpoint != "envelope" && endpoint != "store" || !strings.HasSuffix(rest, "/api/") {
		return 0, "", false
	}
	project, err := strconv.ParseUint(digits, 10, 64)
	return project, endpoint, err == nil && digits[0] != '+'
}
