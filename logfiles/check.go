package logfiles

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
)

// Kind says whether a reader of the stream can use a message.
type Kind uint8

// The kinds of a message.
const (
	Good    Kind = iota
	Damaged      // its own checksum is wrong
	Filling      // it only fills the place of one that was lost
)

// Stretch is a part of a stream without good messages.
type Stretch struct {
	From, To uint64
	// Damaged says that the messages are there but cannot be read.
	Damaged bool
}

// Report is what a stream has and lacks.
type Report struct {
	First, Last uint64
	Messages    uint64 // that are good
	Bytes       uint64
	Gone        []Stretch
}

// held is what an Inventory keeps of one message.
type held struct {
	sum  uint32 // see sumOf
	kind Kind
}

// Inventory lists the messages in all files of a stream.
type Inventory struct {
	// First is the lowest sequence of a message, 0 without one.
	First uint64

	stream      Stream
	files       []file
	firsts      []uint64 // of each file, 0 for one without messages
	messages    map[uint64]held
	last        uint64
	good, bytes uint64
}

// Read reads all files of a stream and changes nothing. It calls judge for each
// message, in the order of the files.
func (s Stream) Read(judge func(Message) Kind) (*Inventory, error) {
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	inv := &Inventory{stream: s, files: files, firsts: make([]uint64, len(files)), messages: map[uint64]held{}}
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

// Report says what the stream has and what is gone. first is the sequence that the
// stream should begin with.
func (inv *Inventory) Report(first uint64) Report {
	r := Report{First: first, Last: max(inv.last, inv.stream.indexed()), Messages: inv.good, Bytes: inv.bytes}
	r.Gone = inv.gone(r.First, r.Last)
	return r
}

func (inv *Inventory) add(m Message, kind Kind) {
	if _, twice := inv.messages[m.Sequence]; twice {
		return // the server uses the first one
	}
	inv.messages[m.Sequence] = held{sum: sumOf(m), kind: kind}
	if inv.First == 0 || m.Sequence < inv.First {
		inv.First = m.Sequence
	}
	inv.last = max(inv.last, m.Sequence)
	if kind != Damaged {
		inv.good++
		inv.bytes += uint64(len(m.Data))
	}
}

// gone returns the stretches without good messages.
func (inv *Inventory) gone(first, last uint64) (list []Stretch) {
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

// each calls yield for the undamaged messages of a file. The hashes are checked
// with the number of the file.
func (s Stream) each(f file, number uint32, yield func(Message)) error {
	content, records, err := s.records(f, number)
	for _, r := range records {
		yield(message(content, r))
	}
	return err
}

// records reads a file and finds the undamaged messages in it.
func (s Stream) records(f file, number uint32) (content []byte, found []record, err error) {
	content, ok, err := f.read()
	if err != nil || !ok {
		return nil, nil, err
	}
	found = scanFile(content, newHasher(s.Name, number)).records
	return content, slices.DeleteFunc(found, record.gone), nil
}

// sumOf is a checksum of a message without its sequence, to compare two messages.
func sumOf(m Message) uint32 {
	sum := crc32.NewIEEE()
	_ = binary.Write(sum, binary.LittleEndian, m.Time) // a hash never fails
	for _, part := range [][]byte{[]byte(m.Subject), m.Head, m.Data} {
		_, _ = sum.Write(part)
	}
	return sum.Sum32()
}

// indexed is the last sequence in the index of the server, 0 without an index.
func (s Stream) indexed() uint64 {
	index, err := os.ReadFile(filepath.Join(s.folder, "msgs", indexFile))
	if err != nil || len(index) < 2 {
		return 0
	}
	in := bytes.NewReader(index[2:]) // after magic and version
	var last uint64
	for range 5 { // number of messages, bytes, first sequence, its time, last sequence
		if last, err = binary.ReadUvarint(in); err != nil {
			return 0
		}
	}
	return last
}
