// Package load sends prebuilt HTTP requests as fast as a server answers them, and has a
// server that drops them, the null sink. The benchmarks and "errata bench" share it. It
// knows nothing about Errata: it must not import what it measures.
package load

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
)

// Placeholders mark the places of a request that are different each time. They look
// random, because a key must not contain one.
const (
	// Number is replaced with 16 hex digits, in each place with others.
	Number = "9d3b5c71e8f2a604"
	// EventID is replaced with 32 hex digits, which are the same in the whole request.
	EventID = "c41f07d86ab35e92f8806d1b47ce9a35"
	// Problem is replaced with the letters of one of several problems, which are the
	// same in the whole request; see [Request.Among].
	Problem = "Qvxyz"
)

// Request is a prebuilt HTTP request.
type Request struct {
	// Events is how many events it carries.
	Events int

	bytes                  []byte
	numbers, ids, problems []int // offsets of the placeholders
	among                  uint64
}

// NewRequest builds a request. Its host is localhost where the header has none.
func NewRequest(method, path string, header [][2]string, body string, events int) Request {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", method, path)
	host := "localhost"
	for _, h := range header {
		if h[0] == "Host" {
			host = h[1]
		}
	}
	fmt.Fprintf(&b, "Host: %s\r\nContent-Length: %d\r\n", host, len(body))
	for _, h := range header {
		if h[0] != "Host" {
			fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
		}
	}
	b.WriteString("\r\n")
	b.WriteString(body)
	return Request{Events: events, bytes: b.Bytes(),
		numbers: placesOf(b.Bytes(), Number), ids: placesOf(b.Bytes(), EventID), problems: placesOf(b.Bytes(), Problem)}
}

func placesOf(text []byte, placeholder string) (places []int) {
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte(placeholder))
		if i < 0 {
			return places
		}
		places = append(places, at+i)
		at += i + len(placeholder)
	}
}

// MaxProblems is how many problems the letters of [Problem] can tell apart.
const MaxProblems = 20 * 20 * 20 * 20 * 20

// Among returns the request with events of n problems in turn, at most [MaxProblems].
// Without it the placeholder stays.
func (r Request) Among(n int) Request {
	r.among = uint64(n)
	return r
}

// number makes every event unique. It begins anywhere, so that the events of a second
// run are not repeats of those of the first.
var number = anywhere()

func anywhere() *atomic.Uint64 {
	n := new(atomic.Uint64)
	n.Store(rand.Uint64()) //nolint:gosec // it only keeps runs apart
	return n
}

// turn is whose turn it is among the problems.
var turn atomic.Uint64

// run are the first digits of all event ids of this process.
var run = rand.Uint64() //nolint:gosec // likewise

// spread is odd, so that different numbers stay different and look random.
const spread = 0x9e3779b97f4a7c15

// fill replaces the placeholders in out, which is a copy of the request's bytes.
func (r *Request) fill(out []byte) {
	for _, at := range r.numbers {
		putHex(out[at:], number.Add(1)*spread)
	}
	if len(r.ids) > 0 {
		n := number.Add(1)
		for _, at := range r.ids {
			putHex(out[at:], run)
			putHex(out[at+16:], n*spread)
		}
	}
	if r.among > 0 {
		n := turn.Add(1) % r.among
		for _, at := range r.problems {
			putLetters(out[at:], n)
		}
	}
}

func putHex(out []byte, n uint64) {
	const digits = "0123456789abcdef"
	for i := range 16 {
		out[i] = digits[n>>(60-4*i)&15]
	}
}

// putLetters writes a number without digits and without letters that are hex digits:
// servers leave numbers out of messages before they compare them.
func putLetters(out []byte, n uint64) {
	const letters = "ghijklmnopqrstuvwxyz"
	for i := range len(Problem) {
		out[i] = letters[n%20]
		n /= 20
	}
}
