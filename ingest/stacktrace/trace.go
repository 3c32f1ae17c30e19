// Package stacktrace collects the frames of stack traces for the receivers: from
// frames that were sent one by one, or out of a text as Go, V8, Java, .NET,
// Python, PHP and Ruby print it. Arguments and source lines are left out: a
// frame says where it is, never what it held.
//
// Its cost is linear in the text and its memory does not grow with the number
// of frames. It uses no regular expressions.
package stacktrace

import (
	"slices"
	"strings"

	"github.com/errata-log/errata/ingest"
)

// Trace collects frames: the first 25 and the last 25, as the pipeline keeps
// them. Of frames added oldest call first the place is found among all of
// them. The zero Trace is empty and ready.
type Trace struct {
	frames []ingest.Frame
	seen   int
	place  Place
}

// Place is where a stack trace says the error is.
type Place struct {
	File  string
	Line  int64
	Known bool
	rank  rank
}

// By says why the frame was chosen.
func (p Place) By() ingest.PlacedBy {
	if p.rank == inApp {
		return ingest.PlacedByInApp
	}
	return ingest.PlacedByLastFrame
}

// rank says how much a frame tells of the place of an error.
type rank uint8

const (
	foreign rank = iota
	own          // Go code of no library, which its SDK does not call the application's
	inApp
)

const half = ingest.MaxFrames / 2

// Add appends a frame.
func (t *Trace) Add(f ingest.Frame) {
	r := foreign
	if f.InApp {
		r = inApp
	} else if t.place.rank <= own && strings.HasSuffix(f.File, ".go") && !GoLibrary(f.File, f.Module) {
		r = own
	}
	if r >= t.place.rank {
		t.place = Place{f.File, f.Line, true, r}
	}
	if t.seen < ingest.MaxFrames {
		t.frames = append(t.frames, f)
	} else {
		t.frames[half+t.seen%half] = f // the later half is a ring
	}
	t.seen++
}

// Seen is how many frames were added.
func (t *Trace) Seen() int { return t.seen }

// Place is the last frame of the application, else the last frame of Go code
// that is of no library, else the last frame.
func (t *Trace) Place() Place { return t.place }

// Frames gives the frames in the order they were added, in a slice of its
// own; nil when there are none.
func (t *Trace) Frames() []ingest.Frame {
	var frames []ingest.Frame
	switch {
	case t.seen == 0:
		return nil
	case t.seen <= ingest.MaxFrames:
		frames = slices.Clone(t.frames)
	default:
		oldest := half + t.seen%half
		frames = slices.Concat(t.frames[:half], t.frames[oldest:], t.frames[half:oldest])
	}
	return frames
}

// JudgedFrames is Frames for senders that do not know their own code: where a
// Go SDK calls none of the frames the application's, as sentry-go in a binary
// that was built with -trimpath, those of no library are.
func (t *Trace) JudgedFrames() []ingest.Frame {
	frames := t.Frames()
	if t.place.rank == own {
		for i := range frames {
			f := &frames[i]
			f.InApp = strings.HasSuffix(f.File, ".go") && !GoLibrary(f.File, f.Module)
		}
	}
	return frames
}

// Clear forgets the frames and keeps their room.
func (t *Trace) Clear() {
	clear(t.frames)
	*t = Trace{frames: t.frames[:0]}
}
