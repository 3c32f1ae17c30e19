// Package stacktrace collects the frames of stack traces for the receivers. It takes
// frames one by one, or reads a text as Go, V8, Java, .NET, Python, PHP and Ruby print
// it. It must not keep arguments or source lines.
//
// The time is linear in the text, and the memory does not grow with the number of
// frames. The package uses no regular expressions.
package stacktrace

import (
	"slices"
	"strings"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/lenient"
)

// Trace collects frames, oldest call first. It keeps the first 25 and the last 25, as
// the pipeline does, and finds the place among all of them. The zero Trace is empty
// and ready for use.
type Trace struct {
	frames []ingest.Frame
	seen   int
	place  Place
	given  lenient.Slab[ingest.Frame]
}

// Reused is an empty Trace for one event after another.
func Reused() Trace { return Trace{given: lenient.Slab[ingest.Frame]{Size: 2 * ingest.MaxFrames}} }

// Place is where a stack trace says the error is.
type Place struct {
	File  string
	Line  int64
	Known bool
	rank  rank
}

// By says how the place was found.
func (p Place) By() ingest.PlacedBy {
	if p.rank == inApp {
		return ingest.PlacedByInApp
	}
	return ingest.PlacedByLastFrame
}

// rank orders frames: the place is the last frame of the highest rank.
type rank uint8

const (
	foreign rank = iota
	own          // Go code outside of libraries that the SDK does not mark as in_app
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

// Place is the last frame of the application, else the last frame of Go code outside
// of libraries, else the last frame.
func (t *Trace) Place() Place { return t.place }

// Frames gives the frames in the order they were added, in a slice of their own; nil if
// there are none.
func (t *Trace) Frames() []ingest.Frame {
	if t.seen <= ingest.MaxFrames {
		return t.given.Copy(t.frames)
	}
	oldest := half + t.seen%half
	return slices.Concat(t.frames[:half], t.frames[oldest:], t.frames[half:oldest])
}

// JudgedFrames is Frames for an SDK that may not mark frames as in_app, as sentry-go in
// a program built with -trimpath. If no frame is marked and the place is in Go code,
// it marks the Go frames outside of libraries.
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

// Clear removes the frames and keeps their memory.
func (t *Trace) Clear() {
	clear(t.frames)
	*t = Trace{frames: t.frames[:0], given: t.given}
}
