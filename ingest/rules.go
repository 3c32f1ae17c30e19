package ingest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest/scrub"
	"github.com/errata-log/errata/signature"
)

// Rules turn drafts into events. They are configuration and never change
// while the service runs; the zero Rules are usable.
type Rules struct {
	// InstallRoots are cut from the front of file names; the longest that fits.
	InstallRoots []string
	// DatabaseClasses are the marks in classes, modules and messages by which
	// an error is put into the database book; nil means the default list.
	DatabaseClasses []string
	// Scrubber removes the secrets; nil means the default rules.
	Scrubber *scrub.Scrubber
}

// How far a client's clock is believed, as in Sentry: an event from the future
// or from too long ago gets the time it was received.
const (
	maxAge = 30 * 24 * time.Hour
	// minDrift is the difference between SentAt and Received that no network
	// explains; beyond it the client's clock is wrong by that much.
	minDrift = time.Minute
)

// Event is the pure middle of ingest: gate, normalise, scrub, sign. The same
// draft, source and id always give the same event. The error, if any, has kind
// invalid_event and is meant for the sender.
func (r *Rules) Event(d *Draft, src Source, id errata.EventID) (errata.Event, *errata.Error) {
	read, refused := r.identify(d, src.Project)
	if refused != nil {
		return errata.Event{}, refused
	}
	received := src.Received.UTC().Truncate(time.Millisecond)
	e := errata.Event{
		ID: id, Project: src.Project, Book: read.identity.Book, Signature: signature.Sign(read.identity), Level: d.Level,
		Time: eventTime(d.Time, d.SentAt, received, src.Archive), Received: received,
		File: read.file, Line: Line(d.Line), Message: preview(read.message), Class: read.identity.Class,
		URI:    r.URI(d.URI),
		Method: methodOf(d.Method), UserID: UserID(d.UserID), IP: d.IP.Unmap().WithZone(""),
		ScrubVersion: scrub.Version,
	}
	if e.Level == errata.LevelUnknown {
		e.Level = errata.LevelError
	}
	e.Payload = r.payload(d, &e, read.message)
	return e, nil
}

// identified is what of a draft its signature is made of, cleaned and scrubbed.
type identified struct {
	message, file string
	signing       string // the text whose template signs: the message, or the client's template
	identity      signature.Identity
}

// identify is the one way from a draft to its signature.
func (r *Rules) identify(d *Draft, project uint64) (identified, *errata.Error) {
	class := cutText(oneLine(classOf(d)), MaxClass)
	message := r.Text(messageOf(d), MaxMessage, true)
	if class == "" && message == "" && !tellsMore(d.Context.Exceptions) {
		return identified{}, errata.Errorf(errata.KindInvalidEvent, "an event needs a message, an exception class or an exception")
	}
	signing := message
	if d.Template != "" && d.Template != d.Message {
		signing = r.Text(d.Template, MaxMessage, true)
	}
	file := r.File(d.File)
	identity := signature.Identity{
		Book: r.bookOf(d), Project: project, Class: class, Place: signature.Place(file), Template: signature.Template(signing),
	}
	identity.Fingerprint = fingerprintOf(d.Fingerprint, identity)
	return identified{message: message, file: file, signing: signing, identity: identity}, nil
}

// tellsMore says whether a chain says anything, if only where it was thrown.
func tellsMore(chain []Exception) bool {
	for i := range chain {
		if x := &chain[i]; x.Class != "" || x.Message != "" || len(x.Frames) > 0 {
			return true
		}
	}
	return false
}

// classOf is the class that signs. What PHP puts behind the NUL of an anonymous
// class is where it stands in memory.
func classOf(d *Draft) string {
	class, _, _ := strings.Cut(ClassOf(d.Class, d.Context.Exceptions), "\x00")
	return class
}

// ClassOf is the class of what was thrown, the last of the chain. Go wraps errors
// in types that say nothing; then it is the class of the first cause that does.
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

// isWrapper says that a Go type only carries another error or a text.
func isWrapper(class string) bool {
	switch class {
	case "*fmt.wrapError", "*fmt.wrapErrors", "*errors.joinError", "*errors.errorString",
		"*errors.withStack", "*errors.withMessage", "*errors.fundamental":
		return true
	}
	return false
}

// messageOf is the draft's message, else that of the thrown exception.
func messageOf(d *Draft) string {
	if d.Message != "" {
		return d.Message
	}
	if n := len(d.Context.Exceptions); n > 0 {
		return d.Context.Exceptions[n-1].Message
	}
	return d.Template
}

// Time is when something happened by a client's clock, or received where that
// is not believable: in the future, or too long ago. Both in whole milliseconds.
func Time(at, received time.Time) time.Time {
	return eventTime(at, time.Time{}, received.UTC().Truncate(time.Millisecond), false)
}

// eventTime is when it happened: the client's word, mended by the drift of its
// clock, where that is believable. An archive's times are believed back to 1970,
// before which nobody logged an error.
func eventTime(at, sent, received time.Time, archive bool) time.Time {
	if at.IsZero() {
		return received
	}
	if !sent.IsZero() {
		if drift := received.Sub(sent); drift > minDrift || drift < -minDrift {
			at = at.Add(drift)
		}
	}
	at = at.UTC().Truncate(time.Millisecond)
	oldest := received.Add(-maxAge)
	if archive {
		oldest = time.Unix(0, 0)
	}
	if at.After(received) || at.Before(oldest) {
		return received
	}
	return at
}

// fingerprintOf is the caller's own grouping, nil when it asks for ours. The
// word for ours may stand among other parts, which then split it further.
func fingerprintOf(parts []string, ours signature.Identity) []string {
	if len(parts) == 0 || (len(parts) == 1 && isDefaultFingerprint(parts[0])) {
		return nil
	}
	kept := make([]string, 0, min(len(parts), MaxFingerprint)+2)
	for _, part := range parts[:min(len(parts), MaxFingerprint)] {
		if isDefaultFingerprint(part) {
			kept = append(kept, ours.Class, ours.Place, ours.Template)
			continue
		}
		kept = append(kept, cutText(part, MaxTag))
	}
	return kept
}

func isDefaultFingerprint(part string) bool {
	return part == "{{ default }}" || part == "{{default}}"
}

// UserID is the number of an account, 0 when the text is not one that fits.
func UserID(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// Line is a line number, 0 when n is not one.
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
