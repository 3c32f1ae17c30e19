package eventlog

import "encoding/binary"

// Origin says which application an event came from, where that ran, what was thrown,
// and what its occurrence shows. Its texts share memory with the entry.
type Origin struct {
	Project              uint64
	Class                []byte
	Environment, Release []byte

	// The trail, see [errata.Trail].
	ClientID                           []byte
	UserHash                           uint64
	User, Server, Transaction, TraceID []byte
	Tags                               TagList
}

// Origin reads only these fields of the event, and skips the others: the fold does
// it for each event. It is zero when they cannot be decoded. Only for an event of an
// older version it reads the payload, and allocates.
func (e Entry) Origin() Origin {
	s := skipper{rest: e.body[min(eventHead, len(e.body)):]}
	o := Origin{Project: s.uvarint()}
	s.uvarint() // line
	user := zigzag(s.uvarint())
	s.uvarint() // scrub version
	s.text()    // address, whose length is one byte
	s.text()    // file
	s.text()    // message
	o.Class = s.text()
	s.text() // uri
	s.text() // method
	s.behind(&o, s.text(), user)
	if s.failed {
		return Origin{}
	}
	return o
}

// behind reads what stands behind the payload, or what the payload says in its place.
func (s *skipper) behind(o *Origin, payload []byte, user int64) {
	deployed := len(s.rest) > 0
	if deployed {
		o.Environment, o.Release = s.text(), s.text()
	}
	switch {
	case s.failed:
	case len(s.rest) > 0:
		s.trail(o)
		s.rest = nil // what a newer version wrote
	default:
		older := originInPayload(payload, user)
		older.Project, older.Class = o.Project, o.Class
		if deployed {
			older.Environment, older.Release = o.Environment, o.Release
		}
		*o = older
	}
}

// zigzag is the number of a varint that was read as a uvarint.
func zigzag(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }

// skipper reads fields as [fields] does, without a check of their values. Nearly
// all lengths and numbers take one byte.
type skipper struct {
	rest   []byte
	failed bool
}

func (s *skipper) uvarint() uint64 {
	if len(s.rest) > 0 && s.rest[0] < 0x80 {
		n := s.rest[0]
		s.rest = s.rest[1:]
		return uint64(n)
	}
	return s.longUvarint()
}

func (s *skipper) longUvarint() uint64 {
	n, width := binary.Uvarint(s.rest)
	if width <= 0 {
		s.rest, s.failed = nil, true
		return 0
	}
	s.rest = s.rest[width:]
	return n
}

func (s *skipper) text() []byte {
	n := s.uvarint()
	if n > uint64(len(s.rest)) {
		s.rest, s.failed = nil, true
		return nil
	}
	text := s.rest[:n]
	s.rest = s.rest[n:]
	return text
}
