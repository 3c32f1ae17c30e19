package logfiles

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
)

// Kind says what a message is worth to whoever reads the stream.
type Kind uint8

// The kinds of a message.
const (
	Good    Kind = iota
	Damaged      // its own checksum says so
	Filling      // it stands in the place of one that was lost
)

// Stretch is a part of a stream whose messages are gone.
type Stretch struct {
	From, To uint64
	// Damaged says that something stands there that cannot be read.
	Damaged bool
}

// Report is what reading all files of a stream has found.
type Report struct {
	First, Last uint64
	Messages    uint64 // that are good
	Bytes       uint64
	Gone        []Stretch
}

// Check reads all files of a stream and changes nothing. first is the sequence
// that the stream should begin with, 0 for that of its first message; judge says
// what each message is worth, in the order of the files.
func (s Stream) Check(first uint64, judge func(Message) Kind) (Report, error) {
	inv, err := s.inventory(judge)
	if err != nil {
		return Report{}, err
	}
	r := Report{First: first, Messages: inv.good, Bytes: inv.bytes}
	if r.First == 0 {
		r.First = inv.first
	}
	r.Last = max(inv.last, s.indexed())
	r.Gone = inv.gone(r.First, r.Last)
	return r, nil
}

// held is what is known of one message of a stream.
type held struct {
	sum  uint32 // of all of it
	kind Kind
}

// inventory is what stands in all files of a stream.
type inventory struct {
	files       []file
	firsts      []uint64 // of each file, 0 for one without messages
	messages    map[uint64]held
	first, last uint64
	good, bytes uint64
}

func (s Stream) inventory(judge func(Message) Kind) (*inventory, error) {
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	inv := &inventory{files: files, firsts: make([]uint64, len(files)), messages: map[uint64]held{}}
	for i, f := range files {
		if err := s.each(f, f.number, func(m Message) {
			if inv.firsts[i] == 0 {
				inv.firsts[i] = m.Sequence
			}
			inv.add(m, judge(m))
		}); err != nil {
			return nil, err
		}
	}
	return inv, nil
}

func (inv *inventory) add(m Message, kind Kind) {
	if _, twice := inv.messages[m.Sequence]; twice {
		return // the server takes the first
	}
	inv.messages[m.Sequence] = held{sum: sumOf(m), kind: kind}
	if inv.first == 0 || m.Sequence < inv.first {
		inv.first = m.Sequence
	}
	inv.last = max(inv.last, m.Sequence)
	if kind != Damaged {
		inv.good++
		inv.bytes += uint64(len(m.Data))
	}
}

// gone are the stretches without a good message.
func (inv *inventory) gone(first, last uint64) (list []Stretch) {
	for sequence := max(first, 1); sequence <= last; sequence++ {
		m, there := inv.messages[sequence]
		if there && m.kind != Damaged {
			continue
		}
		if n := len(list); n > 0 && list[n-1].To+1 == sequence && list[n-1].Damaged == there {
			list[n-1].To = sequence
			continue
		}
		list = append(list, Stretch{From: sequence, To: sequence, Damaged: there})
	}
	return list
}

// each calls yield for the whole messages of a file, whose hashes are made with
// the number.
func (s Stream) each(f file, number uint32, yield func(Message)) error {
	content, ok, err := f.read()
	if err != nil || !ok {
		return err
	}
	for _, r := range scanFile(content, newHasher(s.Name, number)).records {
		if !r.gone() {
			yield(message(content, r))
		}
	}
	return nil
}

// sumOf tells two messages apart.
func sumOf(m Message) uint32 {
	sum := crc32.NewIEEE()
	_ = binary.Write(sum, binary.LittleEndian, m.Time) // a hash takes everything
	for _, part := range [][]byte{[]byte(m.Subject), m.Head, m.Data} {
		_, _ = sum.Write(part)
	}
	return sum.Sum32()
}

// indexed is the last sequence that the server's index knows of, 0 without one.
func (s Stream) indexed() uint64 {
	index, err := os.ReadFile(filepath.Join(s.folder, "msgs", indexFile))
	if err != nil || len(index) < 2 {
		return 0
	}
	rest := index[2:] // magic and version; then messages, bytes, first, its time, last
	for range 3 {
		_, n := binary.Uvarint(rest)
		if n <= 0 {
			return 0
		}
		rest = rest[n:]
	}
	_, n := binary.Varint(rest)
	if n <= 0 {
		return 0
	}
	last, n := binary.Uvarint(rest[n:])
	if n <= 0 {
		return 0
	}
	return last
}
