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
	// goneBits of a sequence mean that the record is not a message, but says that
	// one was deleted.
	goneBits = 3 << 62

	// maxRecord is the largest length of a message that the server accepts.
	maxRecord = 32 << 20
	// maxLeap bounds the distance between the sequences of two neighbours in the
	// search for the next record after damage. A file holds fewer messages.
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

// record is the place of a record in a file.
type record struct {
	at, size int
	sequence uint64 // with goneBits
}

// gone says that the record is about a deleted message.
func (r record) gone() bool { return r.sequence&goneBits != 0 || r.sequence == 0 }

// hasher checks the records of one file.
type hasher struct{ key [sha256.Size]byte }

func newHasher(stream string, file uint32) hasher {
	return hasher{sha256.Sum256(fmt.Appendf(nil, "%s-%d", stream, file))}
}

// sum is the hash of a record, made of all but its lengths and the hash itself.
func (h hasher) sum(parts ...[]byte) []byte {
	digest, err := highwayhash.New64(h.key[:])
	if err != nil {
		panic(err) // only for a key of a wrong length
	}
	for _, part := range parts {
		digest.Write(part)
	}
	return digest.Sum(nil)
}

// at reads the record at an offset; whole is false when it is damaged.
func (h hasher) at(content []byte, offset int) (r record, whole bool) {
	r, subject, rest, ok := frame(content, offset)
	if !ok {
		return r, false
	}
	end := len(rest) - hashSize
	return r, bytes.Equal(h.sum(content[offset+4:offset+20], subject, rest[:end]), rest[end:])
}

// frame cuts a record into its parts; rest is header, data and hash. ok is false
// when the lengths cannot be right.
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

// message reads the message of an undamaged record.
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

// appendRecord appends the record of a message to the content of a file.
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
	records []record  // the undamaged ones, in the order of the file
	damaged []stretch // the bytes between them
}

// stretch is a part of a file; tail says that no undamaged record comes after it.
type stretch struct {
	at, end int
	tail    bool
}

// scanFile finds all undamaged records of a file.
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

// resume finds the next undamaged record after a damaged one: at the offset that
// its length gives, or else by trying every offset. It returns the end of the file
// when there is none.
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

// orderly says whether the lengths of all records add up to the size of the file,
// and their sequences rise. It reads nothing else, which is a thousandth of the
// work.
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
