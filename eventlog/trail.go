package eventlog

import (
	"encoding/binary"
	"strconv"

	"github.com/go-faster/jx"

	errata "github.com/errata-log/errata"
)

// The section of the trail is
//
//	uvarint  length of what follows
//	text     id that the client gave: uvarint length, bytes
//	uint64   hash of the user, big endian
//	4 texts  user, server, transaction, trace id
//	uvarint  number of tags
//	texts    key and value of each tag
const hashSize = 8

// trailSize is at least the size of the section.
func trailSize(t *errata.Trail) int {
	size := lengthSize + hashSize + 6*binary.MaxVarintLen32 + len(t.ClientID) + len(t.User) + len(t.Server) + len(t.Transaction) + len(t.TraceID)
	for _, tag := range t.Tags {
		size += 2*binary.MaxVarintLen32 + len(tag.Key) + len(tag.Value)
	}
	return size
}

// appendTrail appends the section. The event fits into MaxEventSize, so the length
// fits into the three bytes that it always takes.
func appendTrail(dst []byte, t *errata.Trail) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0)
	dst = appendText(dst, t.ClientID)
	dst = binary.BigEndian.AppendUint64(dst, t.UserHash)
	for _, text := range [...]string{t.User, t.Server, t.Transaction, t.TraceID} {
		dst = appendText(dst, text)
	}
	dst = binary.AppendUvarint(dst, uint64(len(t.Tags)))
	for _, tag := range t.Tags {
		dst = appendText(appendText(dst, tag.Key), tag.Value)
	}
	putLength(dst[start:], len(dst)-start-lengthSize)
	return dst
}

// appendText appends a text with its length in front.
func appendText[T string | []byte](dst []byte, text T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// trail reads the section.
func (s *skipper) trail(o *Origin) {
	section := skipper{rest: s.text()}
	o.ClientID = section.text()
	o.UserHash = section.uint64()
	o.User, o.Server, o.Transaction, o.TraceID = section.text(), section.text(), section.text(), section.text()
	o.Tags = section.tags()
	s.failed = s.failed || section.failed || len(section.rest) > 0
}

func (s *skipper) uint64() uint64 {
	if len(s.rest) < hashSize {
		s.rest, s.failed = nil, true
		return 0
	}
	n := binary.BigEndian.Uint64(s.rest)
	s.rest = s.rest[hashSize:]
	return n
}

// tags checks the tags here, so that nobody meets a broken one later.
func (s *skipper) tags() TagList {
	n, all := s.uvarint(), s.rest
	for i := uint64(0); i < n && !s.failed; i++ {
		s.text()
		s.text()
	}
	if s.failed {
		return TagList{}
	}
	return TagList{raw: all[:len(all)-len(s.rest)], n: int(n)}
}

// TagList is the tags of an event. It shares memory with the entry.
type TagList struct {
	raw []byte
	n   int
}

// Len is the number of tags.
func (l TagList) Len() int { return l.n }

// Each calls yield for each tag in the order in which they came. Both texts share
// memory with the entry.
func (l TagList) Each(yield func(key, value []byte)) {
	s := skipper{rest: l.raw}
	for range l.n {
		key := s.text()
		yield(key, s.text())
	}
}

// has says whether there is a tag with the key.
func (l TagList) has(key []byte) (found bool) {
	l.Each(func(k, _ []byte) { found = found || string(k) == string(key) })
	return found
}

// add appends a tag.
func (l *TagList) add(key, value []byte) {
	l.raw = appendText(appendText(l.raw, key), value)
	l.n++
}

// Trail is the trail of the origin, with texts of its own.
func (o *Origin) Trail() errata.Trail {
	t := errata.Trail{
		ClientID: string(o.ClientID), UserHash: o.UserHash, User: string(o.User),
		Server: string(o.Server), Transaction: string(o.Transaction), TraceID: string(o.TraceID),
	}
	if n := o.Tags.Len(); n > 0 {
		t.Tags = make([]errata.Tag, 0, n)
		o.Tags.Each(func(key, value []byte) { t.Tags = append(t.Tags, errata.Tag{Key: string(key), Value: string(value)}) })
	}
	return t
}

// originInPayload reads environment, release and trail from the payload of an event
// that an older version wrote. It is empty when that has none or is not JSON. user is
// the number of the user, which the payload then leaves out.
func originInPayload(payload []byte, user int64) (o Origin) {
	if len(payload) > 0 && payload[0] == '{' {
		d := jx.GetDecoder()
		defer jx.PutDecoder(d)
		d.ResetBytes(payload)
		err := d.ObjBytes(func(d *jx.Decoder, key []byte) (err error) {
			into := o.member(key)
			switch {
			case string(key) == "tags" && d.Next() == jx.Object:
				return o.Tags.read(d)
			case into == nil || d.Next() != jx.String:
				return d.Skip()
			}
			*into, err = d.StrBytes()
			return err
		})
		if err != nil {
			o = Origin{}
		}
	}
	o.ClientID, _ = errata.ShortUUID(o.ClientID)
	if len(o.User) == 0 && user > 0 {
		o.User = strconv.AppendInt(nil, user, 10)
	}
	return o
}

// member is the field that a text of the payload goes into, nil for none.
func (o *Origin) member(key []byte) *[]byte {
	switch string(key) {
	case "environment":
		return &o.Environment
	case "release":
		return &o.Release
	case "event_id":
		return &o.ClientID
	case "user":
		return &o.User
	case "server_name":
		return &o.Server
	case "transaction":
		return &o.Transaction
	case "trace_id":
		return &o.TraceID
	}
	return nil
}

// read adds the first texts of a JSON object, as many as a trail may have.
func (l *TagList) read(d *jx.Decoder) error {
	*l = TagList{} // of several members with one name, the last one counts
	return d.Obj(func(d *jx.Decoder, key string) error {
		if l.n == errata.MaxTrailTags || d.Next() != jx.String {
			return d.Skip()
		}
		value, err := d.StrBytes()
		if err == nil && len(value) > 0 && !l.has([]byte(key)) {
			l.add([]byte(key), value)
		}
		return err
	})
}
