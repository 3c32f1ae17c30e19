package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/signature"
)

const (
	// payloadRecords is how many records of a corpus have a context of 1 to 4 KB.
	// The others have an empty one, so that ten million can be filled.
	payloadRecords = 10_000
	// maxSightings cuts the tail of the counts: above it only the log grows, and
	// no query gets slower.
	maxSightings = 64
	// lateBy is how many other records come before a late repeat: more than a
	// batch of the fold holds, so that it changes a written row.
	lateBy = 60_000
	// corpusSpan is the time that the last sightings cover.
	corpusSpan = 90 * 24 * time.Hour
	// maxAge is the longest time between first and last sighting.
	maxAge = 30 * 24 * time.Hour
)

// corpus is an invented history of n problems, distributed like real ones: few
// with many sightings, most of them seen recently, 20,000 files, 300 classes, 15
// % in the book database. Problem i is the same in every corpus with the same
// end.
type corpus struct {
	n   int
	end time.Time // the latest sighting
}

func newCorpus(n int) corpus { return corpus{n: n, end: time.Now().UTC().Truncate(time.Hour)} }

// draw is a random number that depends on the problem and the purpose alone.
func draw(i, purpose int) uint64 { // splitmix64
	x := (uint64(i) + 1) * 0x9e3779b97f4a7c15
	x += uint64(purpose) * 0xd1b54a32d192ed03
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// share is a draw from 0 to below 1.
func share(i, purpose int) float64 { return float64(draw(i, purpose)>>11) / (1 << 53) }

// The purposes of draws.
const (
	ofTraits = iota + 1
	ofPlace
	ofRequest
	ofCount
	ofTime
	ofClass
	ofWord
	ofOtherWord
	ofStatus
	ofLate
	ofSample
	ofProject
	ofDeployment
	ofPayload // and the numbers after it, one for each frame
)

func (corpus) signature(i int) errata.Signature {
	return signature.Sign(signature.Identity{Project: uint64(i), Place: "corpus"})
}

// sightings is how often problem i occurs: half of the problems once, one in
// eighty fifty times or more.
func (corpus) sightings(i int) int {
	return int(min(maxSightings, math.Pow(1-share(i, ofCount), -0.9)))
}

// last is when problem i was last seen, half of the problems in the last 11 days.
func (c corpus) last(i int) time.Time {
	back := time.Duration(float64(corpusSpan) * math.Pow(share(i, ofTime), 3))
	return c.end.Add(-back).Truncate(time.Millisecond)
}

// first is when problem i was first seen; a single sighting is both.
func (c corpus) first(i int) time.Time {
	if c.sightings(i) == 1 {
		return c.last(i)
	}
	age := time.Duration(draw(i, ofTraits)%uint64(maxAge/time.Second)) * time.Second
	return c.last(i).Add(-age)
}

// late says that the last sighting of problem i comes long after the others.
func (c corpus) late(i int) bool { return c.sightings(i) > 1 && draw(i, ofLate)%16 == 0 }

// status is the status that an administrator gave problem i.
func (corpus) status(i int) errata.Status {
	switch k := draw(i, ofStatus) % 1000; {
	case k < 20:
		return errata.StatusMuted
	case k < 120:
		return errata.StatusResolved
	default:
		return errata.StatusOpen
	}
}

// word is in the message of problem i and in no other.
func (corpus) word(i int) string { return fmt.Sprintf("%016X", draw(i, ofWord)) }

// median is the time up to which half of the problems were last seen, and the
// number of those.
func (c corpus) median() (at time.Time, upTo int) {
	times := make([]int64, c.n)
	for i := range times {
		times[i] = c.last(i).UnixMilli()
	}
	slices.Sort(times)
	cut := times[(c.n-1)/2]
	upTo, _ = slices.BinarySearch(times, cut+1)
	return time.UnixMilli(cut).UTC(), upTo
}

// event is the first sighting of problem i; [corpus.again] makes later ones.
func (c corpus) event(i int) errata.Event {
	traits, place, request := draw(i, ofTraits), draw(i, ofPlace), draw(i, ofRequest)
	at := c.first(i)
	e := errata.Event{
		ID: eventID(i, 0), Project: corpusProject(i), Environment: corpusEnvironment(i), Release: corpusRelease(i), Book: errata.BookSystem, Signature: c.signature(i), Level: corpusLevel(traits % 1000),
		Time: at, Received: at, Message: c.message(i), Line: uint32(traits % 2000), Method: corpusMethod(request % 100),
		File: "src/Module" + number10(place%200) + "/Service/Handler" + number10(place%20_000) + ".php",
		URI:  "/api/v2/customers/" + number10(place%4_200_000) + "/orders?page=" + number10(request%20),
		IP:   netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, 10<<24+uint32(place%300_000)))),
	}
	if share(i, ofPlace) >= 0.85 {
		e.Book = errata.BookDatabase
	}
	if request%10 < 9 {
		e.Class = "App\\Exception\\Class" + number10(uint64(300*math.Pow(share(i, ofClass), 2))) + "Exception"
	}
	if request%3 != 0 {
		e.UserID = 1 + int64(place%110_000)
	}
	e.Payload = []byte("{}")
	if i < payloadRecords {
		e.Payload = corpusPayload(i)
	}
	return e
}

// again is sighting k of the problem whose first one is e. Repeats come within
// the hour of the last one.
func (c corpus) again(i, k int, e errata.Event) errata.Event {
	e.ID, e.Time, e.Received = eventID(i, k), c.last(i), c.last(i)
	return e
}

// message is a preview of 200 characters.
func (c corpus) message(i int) string {
	place := draw(i, ofPlace)
	text := make([]byte, 0, 240)
	text = append(text, "Call to undefined method on "...)
	text = append(text, c.word(i)...)
	text = append(text, " while handling order "...)
	text = strconv.AppendUint(text, place%9_000_000, 10)
	text = append(text, " for customer "...)
	text = strconv.AppendUint(text, draw(i, ofOtherWord), 16)
	text = append(text, ": expected value between the bounds of the configured window, got nothing from upstream host db"...)
	text = strconv.AppendUint(text, place%64, 10)
	text = append(text, ".internal"...)
	return string(text[:min(len(text), 200)])
}

// eventID is cheap and different for all sightings of one corpus.
func eventID(i, k int) (id errata.EventID) {
	binary.BigEndian.PutUint64(id[:8], draw(i, ofWord))
	binary.BigEndian.PutUint32(id[8:], uint32(i))
	binary.BigEndian.PutUint32(id[12:], uint32(k))
	return id
}

func number10(n uint64) string { return strconv.FormatUint(n, 10) }

func corpusLevel(k uint64) errata.Level {
	switch {
	case k < 50:
		return errata.LevelFatal
	case k < 100:
		return errata.LevelCritical
	case k < 700:
		return errata.LevelError
	case k < 900:
		return errata.LevelWarning
	case k < 950:
		return errata.LevelNotice
	case k < 980:
		return errata.LevelInfo
	default:
		return errata.LevelDebug
	}
}

// corpusProject, corpusEnvironment and corpusRelease say whose error problem i is: one of
// 50 projects, half of the problems in production, one in seven by each release.
func corpusProject(i int) uint64 { return 1 + draw(i, ofProject)%50 }

func corpusEnvironment(i int) string {
	return []string{"production", "production", "staging", "development"}[draw(i, ofDeployment)%4]
}

func corpusRelease(i int) string { return "shop@1." + number10(draw(i, ofDeployment)/4%7) }

func corpusMethod(k uint64) string {
	switch {
	case k < 60:
		return "GET"
	case k < 90:
		return "POST"
	case k < 95:
		return "PUT"
	default:
		return "DELETE"
	}
}

// corpusPayload is a stack of 1 to 4 KB.
func corpusPayload(i int) []byte {
	type frame struct {
		File     string   `json:"file"`
		Line     int      `json:"line"`
		Function string   `json:"function"`
		Args     []string `json:"args"`
	}
	frames := make([]frame, 10+draw(i, ofPayload)%28)
	for k := range frames {
		frames[k] = frame{
			File: "src/Module" + strconv.Itoa(k) + "/Handler" + number10(draw(i, ofPayload+k)%20_000) + ".php",
			Line: k * 7, Function: "handle", Args: []string{"string(12)", "array(3)"},
		}
	}
	data, err := json.Marshal(map[string]any{"stack": frames})
	if err != nil {
		panic(err) // texts and numbers always encode
	}
	return data
}
