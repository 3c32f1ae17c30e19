package ingest

import (
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest/noise"
	"github.com/errata-log/errata/projects"
)

// Noise gives the noise rules of projects to the receivers. Its zero value has none. All
// receivers of a service share one, by pointer.
type Noise struct {
	// Rules are those of a project, see [noise.Book]. It is asked for each request and
	// must not block. nil: no project has any.
	Rules func(project uint64) []projects.Rule
	// Dropped is told how many events of a project the rules have dropped; nil: nobody.
	Dropped func(project uint64, events int)

	book noise.Book
}

// Of are the compiled rules of the project, nil for none.
func (n *Noise) Of(project uint64) *noise.Rules {
	if n == nil || n.Rules == nil {
		return nil
	}
	return n.book.Of(project, n.Rules(project))
}

// Count counts events of the project that were dropped.
func (n *Noise) Count(project uint64, events int) {
	if n != nil && n.Dropped != nil && events > 0 {
		n.Dropped(project, events)
	}
}

// Judged is [Rules.Event] under the noise rules of the project. The event has their
// marks; dropped says that it must not be kept. The same draft, source, id and noise
// rules always give the same.
func (r *Rules) Judged(d *Draft, src Source, id errata.EventID, under *noise.Rules) (e errata.Event, dropped bool, refused *errata.Error) {
	w := workshops.Get().(*workshop) // the pool holds nothing else
	defer workshops.Put(w)
	return r.judged(d, &src, id, under, w)
}

// judged is Judged in the memory of w.
func (r *Rules) judged(d *Draft, src *Source, id errata.EventID, under *noise.Rules, w *workshop) (e errata.Event, dropped bool, refused *errata.Error) {
	e, message, refused := r.event(d, src, id, w)
	if refused != nil || under == nil {
		return e, false, refused
	}
	verdict := under.Decide(&noise.Sighting{
		Class: e.Class, Message: message, File: e.File, Sent: r.sentFile(d.File), IP: e.IP,
		Release: e.Release, Logger: r.Text(d.Context.Logger, MaxName, false),
		UserAgent: r.userAgent(d.Context.Headers),
	})
	e.Mute, e.Noise = verdict.Mute, verdict.Noise
	return e, verdict.Drop, nil
}

// sentFile is the file as the client wrote it, where that has more than the file of the
// record: scheme and host. Like this the code of a browser extension is told.
func (r *Rules) sentFile(file string) string {
	if !strings.Contains(file, ":") {
		return ""
	}
	return r.Text(file, MaxFile, false)
}

// userAgent is the request header as it would be kept.
func (r *Rules) userAgent(headers []Pair) string {
	for _, h := range headers {
		if strings.EqualFold(h.Key, "User-Agent") {
			_, value, _ := r.Scrubber.Header("User-Agent", h.Value)
			return r.Text(value, MaxName, false)
		}
	}
	return ""
}
