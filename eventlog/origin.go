package eventlog

import (
	"encoding/binary"

	"github.com/go-faster/jx"
)

// Origin says which application an event came from, where that ran, and what was
// thrown. Its texts share memory with the entry.
type Origin struct {
	Project              uint64
	Class                []byte
	Environment, Release []byte
}

// Origin reads only these fields of the event, and skips the others: the fold does
// it for each event. It is zero when they cannot be decoded.
func (e Entry) Origin() Origin {
	s := skipper{rest: e.body[min(eventHead, len(e.body)):]}
	o := Origin{Project: s.uvarint()}
	s.uvarint() // line
	s.uvarint() // user id: another meaning of the same bytes
	s.uvarint() // scrub version
	s.text()    // address, whose length is one byte
	s.text()    // file
	s.text()    // message
	o.Class = s.text()
	s.text() // uri
	s.text() // method
	payload := s.text()
	if len(s.rest) > 0 {
		o.Environment, o.Release = s.text(), s.text()
	} else if !s.failed {
		o.Environment, o.Release = deploymentOf(payload)
	}
	if s.failed || len(s.rest) > 0 {
		return Origin{}
	}
	return o
}

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

// deploymentOf reads environment and release from the payload of an event that an
// older version wrote. They are empty when it has none or is not JSON.
func deploymentOf(payload []byte) (environment, release []byte) {
	if len(payload) == 0 || payload[0] != '{' {
		return nil, nil
	}
	d := jx.GetDecoder()
	defer jx.PutDecoder(d)
	d.ResetBytes(payload)
	err := d.ObjBytes(func(d *jx.Decoder, key []byte) (err error) {
		into := &environment
		switch string(key) {
		case "environment":
		case "release":
			into = &release
		default:
			return d.Skip()
		}
		if d.Next() != jx.String {
			return d.Skip()
		}
		*into, err = d.StrBytes()
		return err
	})
	if err != nil {
		return nil, nil
	}
	return environment, release
}
