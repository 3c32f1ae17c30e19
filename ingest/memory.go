package ingest

import (
	"bytes"
	"strings"

	"github.com/errata-log/errata/ingest/scrub"
	"github.com/errata-log/errata/internal/recent"
	"github.com/errata-log/errata/signature"
)

// memory is what the rules of a pipeline remember of the texts of a moment ago. It has
// only texts in which the scrubber found nothing, so that no secret stays in the
// process. The rules never change, so a text always gives the same.
type memory struct {
	line, lines *recent.Table[struct{}] // come out of [Rules.Text] as they went in, as one line or as several
	uris        *recent.Table[struct{}] // come out of [Rules.URI] as they went in
	files       *recent.Table[string]   // by the file as it was sent; see [Rules.File]
	templates   *recent.Table[string]   // see [signature.Template]
	objects     *recent.Table[[]byte]   // see [scrub.Scrubber.JSON]
	contexts    *recent.Table[[]byte]   // see [memo.object]
	keys        *scrub.Keys
}

// newMemory makes a memory. It takes 350 KB, and at most 25 MB if every text has the
// greatest length.
func newMemory() *memory {
	return &memory{
		line: recent.New[struct{}](11, 256), lines: recent.New[struct{}](10, 512), uris: recent.New[struct{}](9, 256),
		files: recent.New[string](10, 256), templates: recent.New[string](10, 512), objects: recent.New[[]byte](8, 4<<10),
		contexts: recent.New[[]byte](7, 4<<10), keys: scrub.NewKeys(),
	}
}

// noMemory is that of rules without a pipeline: all its tables are nil.
var noMemory memory

func (r *Rules) memory() *memory {
	if r.recent == nil {
		return &noMemory
	}
	return r.recent
}

// nothing is the value of an entry that says by itself what is known of a text.
func nothing(string) struct{} { return struct{}{} }

// template is [signature.Template] of a text that was scrubbed.
func (r *Rules) template(signing string) string {
	m := r.memory()
	template, at, found := m.templates.Find(signing)
	if found {
		return template
	}
	template = signature.Template(signing)
	m.templates.Keep(at, signing, func(own string) string { return like(own, template) })
	return template
}

// like is the text, or own if that is the same: then it needs no memory of its own.
func like(own, text string) string {
	if own == text {
		return own
	}
	return strings.Clone(text)
}

// object is [scrub.Scrubber.JSON]. Nobody may change the result.
func (r *Rules) object(raw []byte) ([]byte, error) {
	known := r.memory().objects
	kept, at, found := known.FindBytes(raw)
	if found {
		return kept, nil
	}
	kept, err := r.Scrubber.JSONKnowing(raw, r.memory().keys)
	if err == nil && !bytes.Contains(kept, []byte(scrub.Filtered)) {
		known.KeepBytes(at, raw, func() []byte { return bytes.Clone(kept) })
	}
	return kept, err
}

// contexts is [memo.object]. Nobody may change the result.
func (r *Rules) contexts(raw []byte, m *memo) []byte {
	known := r.memory().contexts
	kept, at, found := known.FindBytes(raw)
	if found {
		return kept
	}
	kept = m.object(r.Scrubber, raw)
	if kept != nil && !bytes.Contains(kept, []byte(scrub.Filtered)) {
		known.KeepBytes(at, raw, func() []byte { return bytes.Clone(kept) })
	}
	return kept
}
