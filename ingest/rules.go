package ingest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest/scrub"
	"github.com/errata-log/errata/signature"
)

// Rules turn drafts into events. They are configuration and never change
// while the service runs; the zero Rules are usable.
type Rules struct {
	// InstallRoots are cut from the front of file names; the longest that fits.
	InstallRoots []string
	// DatabaseClasses are parts of the names of classes and modules. An error with
	// one of them belongs to the database book. nil means the default list.
	DatabaseClasses []string
	// Scrubber removes the secrets; nil means the default rules.
	Scrubber *scrub.Scrubber

	recent *memory // nil: none
}

// Event checks, normalises, scrubs and signs a draft. The same draft, source and id
// always give the same event. The error has kind invalid_event and is meant for the
// sender.
func (r *Rules) Event(d *Draft, src Source, id errata.EventID) (errata.Event, *errata.Error) {
	w := workshops.Get().(*workshop) // the pool holds nothing else
	defer workshops.Put(w)
	e, _, refused := r.event(d, &src, id, w)
	return e, refused
}

// event is Event with the whole message.
func (r *Rules) event(d *Draft, src *Source, id errata.EventID, w *workshop) (e errata.Event, message string, refused *errata.Error) {
	read, refused := r.identify(d, src.Project)
	if refused != nil {
		return errata.Event{}, "", refused
	}
	received := src.receivedAt()
	at, _ := timeOf(d, *src)
	e = errata.Event{
		ID: id, Project: src.Project, Book: read.identity.Book, Signature: signature.Sign(read.identity), Level: d.Level,
		Time: at, Received: received,
		File: read.file, Line: Line(d.Line), Message: preview(read.message.text), Class: read.identity.Class,
		URI:    r.URI(d.URI),
		Method: methodOf(d.Method), UserID: UserID(d.UserID), IP: d.IP.Unmap().WithZone(""),
		Environment: r.Text(d.Context.Environment, MaxName, false), Release: r.Text(d.Context.Release, MaxName, false),
		ScrubVersion: scrub.Version,
	}
	if e.Level == errata.LevelUnknown {
		e.Level = errata.LevelError
	}
	if src.Context.NoUsers {
		e.UserID = 0
	}
	w.said = r.texts(d, src, w)
	e.Trail = w.said.trail(d, src)
	e.Payload = w.payload(r, d, &e, read.message, src.Context)
	return e, read.message.text, nil
}

// identified is the part of a draft that its signature is made of, cleaned and
// scrubbed.
type identified struct {
	message  cutText
	file     string
	head     string // the beginning of the message, which may be signed
	signing  string // the text whose template is signed: the head, or the client's template
	identity signature.Identity
}

// identify is the only function that makes an identity, which is what is signed.
func (r *Rules) identify(d *Draft, project uint64) (identified, *errata.Error) {
	class := scrub.Cut(oneLine(classOf(d)), MaxClass)
	message, head := r.message(messageOf(d))
	if class == "" && head == "" && !tellsMore(d.Context.Exceptions) {
		return identified{}, errata.Errorf(errata.KindInvalidEvent, "an event needs a message, an exception class or an exception")
	}
	signing := head
	if d.Template != "" && d.Template != d.Message {
		signing = r.signedText(d.Template)
	}
	file := r.File(d.File)
	identity := signature.Identity{
		Book: r.bookOf(d), Project: project, Class: class, Place: signature.Place(file), Template: r.template(signing),
	}
	identity.Fingerprint = fingerprintOf(d.Fingerprint, identity)
	return identified{message: message, file: file, head: head, signing: signing, identity: identity}, nil
}

// message is the message that is kept, and the beginning of it that may be signed.
// Recipe v1 cuts a text before it is scrubbed, so the beginning of a long one is
// scrubbed on its own.
func (r *Rules) message(text string) (kept cutText, head string) {
	kept = r.cutText(text, MaxMessage, true)
	if len(text) <= MaxSigned+slack && !hasJoiner(text) {
		return kept, scrub.Cut(kept.text, MaxSigned)
	}
	return kept, r.signedText(text)
}

// tellsMore says whether an exception of the chain has a class, a message or a frame.
func tellsMore(chain []Exception) bool {
	return slices.ContainsFunc(chain, func(x Exception) bool { return x.Class != "" || x.Message != "" || len(x.Frames) > 0 })
}

// classOf is the class that is signed. PHP puts a NUL and an address in memory behind
// the name of an anonymous class; they are cut.
func classOf(d *Draft) string {
	class, _, _ := strings.Cut(ClassOf(d.Class, d.Context.Exceptions), "\x00")
	return class
}

// ClassOf is the class thrown of the last exception of the chain. If that is a type
// of Go that only wraps an error, it is the class of the nearest cause that does not.
func ClassOf(thrown string, chain []Exception) string {
	if !isWrapper(thrown) {
		return thrown
	}
	for i := range slices.Backward(chain) {
		if chain[i].Class != "" && !isWrapper(chain[i].Class) {
			return chain[i].Class
		}
	}
	return thrown
}

// isWrapper says whether a class is a type of Go that only carries another error or a
// text.
func isWrapper(class string) bool {
	switch class {
	case "*fmt.wrapError", "*fmt.wrapErrors", "*errors.joinError", "*errors.errorString",
		"*errors.withStack", "*errors.withMessage", "*errors.fundamental":
		return true
	}
	return false
}

// messageOf is the draft's message, else that of the thrown exception, else the
// template.
func messageOf(d *Draft) string {
	if d.Message != "" {
		return d.Message
	}
	if n := len(d.Context.Exceptions); n > 0 {
		return d.Context.Exceptions[n-1].Message
	}
	return d.Template
}

// fingerprintOf is the client's own grouping, nil if it asks for the default one.
// {{ default }} among other parts splits the default groups further.
func fingerprintOf(parts []string, identity signature.Identity) []string {
	if len(parts) == 0 || (len(parts) == 1 && isDefaultFingerprint(parts[0])) {
		return nil
	}
	kept := make([]string, 0, min(len(parts), MaxFingerprint)+2)
	for _, part := range parts[:min(len(parts), MaxFingerprint)] {
		if isDefaultFingerprint(part) {
			kept = append(kept, identity.Class, identity.Place, identity.Template)
			continue
		}
		kept = append(kept, scrub.Cut(part, MaxTag))
	}
	return kept
}

func isDefaultFingerprint(part string) bool {
	return part == "{{ default }}" || part == "{{default}}"
}

// UserID is the number of an account, 0 if the text is not a positive int64.
func UserID(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// Line is n as a line number, 0 if it is negative or too large.
func Line(n int64) uint32 {
	if n < 0 || n > 1<<31 {
		return 0
	}
	return uint32(n)
}

// NewRules are the rules with what an operator has added to them. The error names
// the setting that is wrong.
func NewRules(installRoots []string, additions scrub.Additions) (Rules, error) {
	if slices.ContainsFunc(installRoots, func(root string) bool { return strings.TrimSpace(root) == "" }) {
		return Rules{}, errors.New("install-roots: want paths, got an empty one")
	}
	scrubber, err := scrub.New(additions)
	if err != nil {
		return Rules{}, fmt.Errorf("scrub-%w", err)
	}
	return Rules{InstallRoots: installRoots, Scrubber: scrubber}, nil
}
