package projector

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	errata "github.com/errata-log/errata"
)

// A file of ids, format 1, has the ids of a stretch of the log:
//
//	3 bytes  "ERI"
//	byte     format version, 1
//	int64    when the log was created, Unix nanoseconds
//	uint64   first fact of the stretch
//	uint64   last fact
//	uint32   number of blocks
//	n × 20   blocks: uint64 its fact, int64 its receive time in Unix milliseconds, uint32 number of events
//	n × 16   event ids
//	4 bytes  CRC-32C of all before it
//
// Numbers are big endian. Blocks and ids are in the order of the log.
const (
	idsMagic     = "ERI"
	idsVersion   = 1
	idSize       = len(errata.EventID{})
	idsHeadSize  = len(idsMagic) + 1 + 8 + 8 + 8 + 4
	idsBlockSize = 8 + 8 + 4
	idsSumSize   = 4
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	// errIDs says that a file of ids is damaged, or of another program.
	errIDs = errors.New("not a whole file of event ids")
)

// idStretch has the ids of all events of the facts first to last, of which none is missing.
type idStretch struct {
	log         int64 // when it was created, Unix nanoseconds
	first, last uint64
	blocks      []idBlock
	ids         []byte // idSize each
}

type idBlock struct {
	sequence uint64
	received int64 // Unix milliseconds
	events   uint32
}

func (s idStretch) encode() []byte {
	to := make([]byte, 0, idsHeadSize+len(s.blocks)*idsBlockSize+len(s.ids)+idsSumSize)
	to = append(to, idsMagic...)
	to = append(to, idsVersion)
	to = binary.BigEndian.AppendUint64(to, uint64(s.log))
	to = binary.BigEndian.AppendUint64(to, s.first)
	to = binary.BigEndian.AppendUint64(to, s.last)
	to = binary.BigEndian.AppendUint32(to, uint32(len(s.blocks)))
	for _, b := range s.blocks {
		to = binary.BigEndian.AppendUint64(to, b.sequence)
		to = binary.BigEndian.AppendUint64(to, uint64(b.received))
		to = binary.BigEndian.AppendUint32(to, b.events)
	}
	to = append(to, s.ids...)
	return binary.BigEndian.AppendUint32(to, crc32.Checksum(to, castagnoli))
}

// decodeIDs reads a file of ids, and shares its memory.
func decodeIDs(data []byte) (s idStretch, err error) {
	if len(data) < idsHeadSize+idsSumSize || string(data[:len(idsMagic)]) != idsMagic || data[len(idsMagic)] != idsVersion {
		return s, errIDs
	}
	body, sum := data[:len(data)-idsSumSize], data[len(data)-idsSumSize:]
	if crc32.Checksum(body, castagnoli) != binary.BigEndian.Uint32(sum) {
		return s, errIDs
	}
	head := body[len(idsMagic)+1:]
	s.log = int64(binary.BigEndian.Uint64(head))
	s.first, s.last = binary.BigEndian.Uint64(head[8:]), binary.BigEndian.Uint64(head[16:])
	blocks, rest := int(binary.BigEndian.Uint32(head[24:])), body[idsHeadSize:]
	if blocks > len(rest)/idsBlockSize {
		return s, errIDs
	}
	events, before := uint64(0), uint64(0)
	for ; blocks > 0; blocks-- {
		b := idBlock{binary.BigEndian.Uint64(rest), int64(binary.BigEndian.Uint64(rest[8:])), binary.BigEndian.Uint32(rest[16:])}
		if b.sequence <= before || b.sequence < s.first || b.sequence > s.last {
			return s, errIDs
		}
		s.blocks, before, rest = append(s.blocks, b), b.sequence, rest[idsBlockSize:]
		events += uint64(b.events)
	}
	if uint64(len(rest)) != events*uint64(idSize) {
		return s, errIDs
	}
	s.ids = rest
	return s, nil
}
