package ingest

import (
	"time"
)

// These are the rules of single fields, for doors that keep something else
// than events and must treat a text the same.

// Text is a text without control characters and secrets, at most limit bytes
// long; a cut is marked. lines keeps tabs and line feeds.
func (r *Rules) Text(s string, limit int, lines bool) string { return r.bounded(s, limit, lines) }

// URI is the address of a request as it may be kept, see [scrub.URI].
func (r *Rules) URI(uri string) string { return r.uriOf(uri) }

// UserID is the number of an account, 0 when the text is not one that fits.
func UserID(text string) int64 { return userIDOf(text) }

// Line is a line number, 0 when n is not one.
func Line(n int64) uint32 { return lineOf(n) }

// File is a source file relative to the install root.
func (r *Rules) File(file string) string { return r.bounded(r.relativeFile(file), MaxFile, false) }

// Time is when something happened by a client's clock, or received where that
// is not believable: in the future, or too long ago. Both in whole milliseconds.
func Time(at, received time.Time) time.Time {
	return eventTime(at, time.Time{}, received.UTC().Truncate(time.Millisecond), false)
}
