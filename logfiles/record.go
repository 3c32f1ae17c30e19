package logfiles

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/minio/highwayhash"
)

const (
	headSize = 22 // length, sequence, time, length of the subject
	hashSize = 8

	headerBit = 1 << 31 // of the length
	// goneBits of a sequence say that the record is no message but tells of one
	// that was deleted.
	goneBits = 3 << 62

	// maxRecord is what the server believes to be a message.
	maxRecord = 32 << 20
	// maxLeap is how far the sequences of two neighbours may be apart where a
	// record is looked for behind a damaged one. A file holds fewer messages.
	maxLeap = 1 << 24
)

// Message is one message of a file.
type Message struct {
	Sequence uint64
	Time     int64 // Unix nanoseconds
	Subject  string
	Head     []byte // with all its lines, empty without a header
	Data     []byte
}

// record is where one stands in a file.
type record struct {
	at, size int
	sequence uint64 // with goneBits
}

// gone says that the record tells of a deleted message.
func (r record) gone() bool { return r.sequence&goneBits != 0 || r.sequence == 0 }

// hasher checks the records of one file.
type hasher struct{ key [sha256.Size]byte }

func newHasher(stream string, file uint32) hasher {
	return hasher{sha256.Sum256(fmt.Appendf(nil, "%s-%d", stream, file))}
}

// sum is the hash of a record: of all but its lengths and the hash itself.
func (h hasher) sum(parts ...[]byte) []byte {
	digest, err := highwayhash.New64(h.key[:])
	if err != nil {
		panic(err) // only for a key of another length
	}
	for _, part := range parts {
		digest.Write(part) //nolint:errcheck,gosec // a hash takes everything
	}
	return digest.Sum(nil)
}

// at reads the record at an offset; whole is false when its bytes are not those
// that were written.
func (h hasher) at(content []byte, offset int) (r record, whole bool) {
	r, subject, rest, ok := frame(content, offset)
	if !ok {
		return r, false
	}
	end := len(rest) - hashSize
	return r, bytes.Equal(h.sum(content[offset+4:offset+20], subject, rest[:end]), rest[end:])
}

// frame cuts a record into its parts; rest is header, data and hash. It fails
// where the lengths cannot be right.
func frame(content []byte, offset int) (r record, subject, rest []byte, ok bool) {
	if offset+headSize+hashSize > len(content) {
		return record{}, nil, nil, false
	}
	head := content[offset:]
	length := binary.LittleEndian.Uint32(head)
	size := int(length &^ headerBit)
	r = record{at: offset, size: size, sequence: binary.LittleEndian.Uint64(head[4:])}
	begin := headSize + int(binary.LittleEndian.Uint16(head[20:]))
	subjectEnd := begin
	if length&headerBit != 0 {
		begin += 4
	}
	if size > maxRecord || size > len(head) || begin+hashSize > size {
		return r, nil, nil, false
	}
	return r, head[headSize:subjectEnd], head[begin:size], true
}

// message is what stands in a whole record.
func message(content []byte, r record) Message {
	_, subject, rest, _ := frame(content, r.at)
	head := content[r.at:]
	m := Message{
		Sequence: r.sequence, Time: int64(binary.LittleEndian.Uint64(head[12:])),
		Subject: string(subject), Data: rest[:len(rest)-hashSize],
	}
	if binary.LittleEndian.Uint32(head)&headerBit != 0 {
		n := min(int(binary.LittleEndian.Uint32(head[headSize+len(subject):])), len(m.Data))
		m.Head, m.Data = m.Data[:n], m.Data[n:]
	}
	return m
}

// appendRecord adds the record of a message to a file's content.
func (h hasher) appendRecord(content []byte, m Message) []byte {
	size := headSize + len(m.Subject) + len(m.Head) + len(m.Data) + hashSize
	length := uint32(size)
	if len(m.Head) > 0 {
		length = uint32(size+4) | headerBit
	}
	begin := len(content)
	content = binary.LittleEndian.AppendUint32(content, length)
	content = binary.LittleEndian.AppendUint64(content, m.Sequence)
	content = binary.LittleEndian.AppendUint64(content, uint64(m.Time))
	content = binary.LittleEndian.AppendUint16(content, uint16(len(m.Subject)))
	content = append(content, m.Subject...)
	if len(m.Head) > 0 {
		content = binary.LittleEndian.AppendUint32(content, uint32(len(m.Head)))
		content = append(content, m.Head...)
	}
	content = append(content, m.Data...)
	return append(content, h.sum(content[begin+4:begin+20], []byte(m.Subject), m.Head, m.Data)...)
}

// scan is what was found in a file.
type scan struct {
	records []record // that are whole, in the order of the file
	// damaged are the stretches of bytes between them that are no record.
	damaged []stretch
}

// stretch is a part of a file; tail says that nothing whole stands behind it.
type stretch struct {
	at, end int
	tail    bool
}

// scanFile finds all whole records of a file.
func scanFile(content []byte, h hasher) (s scan) {
	var last uint64
	for at := 0; at < len(content); {
		r, whole := h.at(content, at)
		if !whole {
			next := h.resume(content, at, last)
			s.damaged = append(s.damaged, stretch{at: at, end: next, tail: next == len(content)})
			at = next
			continue
		}
		s.records = append(s.records, r)
		if !r.gone() {
			last = max(last, r.sequence)
		}
		at += r.size
	}
	return s
}

// resume finds the next whole record behind a damaged one: where its length says,
// or else by looking at every byte. It is the end of the file where there is none.
func (h hasher) resume(content []byte, at int, last uint64) int {
	if r, _, _, ok := frame(content, at); ok {
		if _, whole := h.at(content, at+r.size); whole {
			return at + r.size
		}
	}
	for next := at + 1; next+headSize+hashSize <= len(content); next++ {
		sequence := binary.LittleEndian.Uint64(content[next+4:]) &^ goneBits
		if last != 0 && (sequence <= last || sequence > last+maxLeap) {
			continue
		}
		if _, whole := h.at(content, next); whole {
			return next
		}
	}
	return len(content)
}

// orderly says whether the lengths and sequences of a file lead from its first
// byte to its last. It looks at nothing else, which is a thousandth of the work.
func orderly(in io.ReaderAt, size int64) (bool, error) {
	var last uint64
	buffer := make([]byte, headSize)
	for at := int64(0); at < size; {
		if at+headSize+hashSize > size {
			return false, nil
		}
		if _, err := in.ReadAt(buffer, at); err != nil {
			return false, err
		}
		length := int64(binary.LittleEndian.Uint32(buffer) &^ headerBit)
		sequence := binary.LittleEndian.Uint64(buffer[4:])
		if length < headSize+hashSize || length > maxRecord || at+length > size {
			return false, nil
		}
		if sequence != 0 && sequence&goneBits == 0 {
			if last != 0 && (sequence <= last || sequence > last+maxLeap) {
				return false, nil
			}
			last = sequence
		}
		at += length
	}
	return true, nil
}
