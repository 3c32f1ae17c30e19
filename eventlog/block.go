package eventlog

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/klauspost/compress/s2"

	errata "github.com/errata-log/errata"
)

// A block, format 1, is the payload of one message on ev.*:
//
//	3 bytes  "ERB"
//	byte     format version, 1
//	uvarint  number of events, 1 to errata.MaxBlockEvents
//	int64    receive time of the first event, Unix milliseconds, big endian
//	n × 16   event ids
//	bytes    the encoded events one after another, as one s2 block
//	4 bytes  CRC-32C of all before it, little endian
//
// The time and the ids come first and are not compressed: ids do not compress, and
// a projector that starts makes its window of ids from them alone.
const (
	blockMagic   = "ERB"
	blockVersion = 1
	timeSize     = 8
	idSize       = len(errata.EventID{})
	checksumSize = 4

	// MaxBlockRaw bounds the encoded events of one block, in bytes before
	// compression. It is half of NATS's default max_payload of 1 MiB, which leaves
	// room for the ids and one more event. Blocks of more than 250 events save no
	// more fsyncs.
	MaxBlockRaw = 512 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sealBlock makes the block with these ids and compressed events. received is the
// receive time of the first event in Unix milliseconds.
func sealBlock(received int64, ids, packed []byte) []byte {
	dst := make([]byte, 0, len(blockMagic)+1+binary.MaxVarintLen32+timeSize+len(ids)+len(packed)+checksumSize)
	dst = append(dst, blockMagic...)
	dst = append(dst, blockVersion)
	dst = binary.AppendUvarint(dst, uint64(len(ids)/idSize))
	dst = binary.BigEndian.AppendUint64(dst, uint64(received))
	dst = append(dst, ids...)
	dst = append(dst, packed...)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst, castagnoli))
}

// EncodeBlock makes one block of 1 to errata.MaxBlockEvents events. Errors:
// ErrEventTooLarge, or another number of events.
func EncodeBlock(events []errata.Event) ([]byte, error) {
	if len(events) == 0 || len(events) > errata.MaxBlockEvents {
		return nil, fmt.Errorf("a block holds 1 to %d events, not %d", errata.MaxBlockEvents, len(events))
	}
	var b ImportBlock
	b.grow(events)
	for i := range events {
		if err := b.Add(&events[i]); err != nil {
			return nil, fmt.Errorf("encode event %d: %w", i, err)
		}
	}
	return b.Seal(), nil
}

// Block is a decoded block. It shares memory with the bytes it was made from.
type Block struct {
	// Received is the receive time of the first event in Unix milliseconds.
	Received int64

	ids []byte
	raw []byte
}

// Len is the number of events in the block.
func (b Block) Len() int { return len(b.ids) / idSize }

// ID is the id of event i.
func (b Block) ID(i int) errata.EventID { return errata.EventID(b.ids[i*idSize : (i+1)*idSize]) }

// IDs are the ids of all events, 16 bytes each.
func (b Block) IDs() []byte { return b.ids }

// Raw is the buffer with the decompressed events. When the block and its entries
// are no longer used, the caller may pass the buffer to DecodeBlock as scratch.
func (b Block) Raw() []byte { return b.raw }

// Entries calls yield for each event in order.
func (b Block) Entries(yield func(index int, e Entry)) {
	rest := b.raw
	for i := range b.Len() {
		e, behind, err := parseEntry(b.ID(i), rest)
		if err != nil {
			return // only for a block of BlockIDs: DecodeBlock has checked all events
		}
		rest = behind
		yield(i, e)
	}
}

// check reads the frames of all events. So a block is accepted or refused as a
// whole, before anybody uses an event of it.
func (b Block) check() error {
	rest := b.raw
	for i := range b.Len() {
		_, behind, err := parseEntry(b.ID(i), rest)
		if err != nil {
			return fmt.Errorf("event %d of %d: %w", i, b.Len(), err)
		}
		rest = behind
	}
	if len(rest) != 0 {
		return fmt.Errorf("%w: %d bytes after the last event", ErrCorrupt, len(rest))
	}
	return nil
}

// DecodeBlock checks and opens a block. It puts the decompressed events into
// scratch, which may be nil, when that is large enough; the block then shares its
// memory. Errors: ErrCorrupt.
func DecodeBlock(data, scratch []byte) (Block, error) {
	b, packed, err := openBlock(data)
	if err != nil {
		return Block{}, err
	}
	n, err := s2.DecodedLen(packed)
	if err != nil || n > MaxBlockRaw+MaxEventSize {
		return Block{}, fmt.Errorf("%w: decompressed size", ErrCorrupt)
	}
	if cap(scratch) < n {
		scratch = make([]byte, n)
	}
	if b.raw, err = s2.Decode(scratch[:cap(scratch)], packed); err != nil {
		return Block{}, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return b, b.check()
}

// BlockIDs opens a block only for its ids and its receive time, and does not
// decompress the events. Errors: ErrCorrupt.
func BlockIDs(data []byte) (Block, error) {
	b, _, err := openBlock(data)
	return b, err
}

// openBlock checks the frame of a block. The events that it returns are still
// compressed.
func openBlock(data []byte) (b Block, packed []byte, err error) {
	const head = len(blockMagic) + 1
	if len(data) < head+1+timeSize+checksumSize || string(data[:len(blockMagic)]) != blockMagic {
		return Block{}, nil, fmt.Errorf("%w: not a block", ErrCorrupt)
	}
	body, sum := data[:len(data)-checksumSize], data[len(data)-checksumSize:]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(sum) {
		return Block{}, nil, fmt.Errorf("%w: checksum", ErrCorrupt)
	}
	if v := data[len(blockMagic)]; v != blockVersion {
		return Block{}, nil, fmt.Errorf("a block of format version %d, this program reads %d: %w", v, blockVersion, ErrNewer)
	}
	n, w := binary.Uvarint(body[head:])
	rest := body[head+max(w, 0):]
	if w <= 0 || n == 0 || n > errata.MaxBlockEvents || uint64(len(rest)) < timeSize+n*uint64(idSize) {
		return Block{}, nil, fmt.Errorf("%w: number of events", ErrCorrupt)
	}
	b.Received = int64(binary.BigEndian.Uint64(rest))
	rest = rest[timeSize:]
	b.ids = rest[:n*uint64(idSize)]
	return b, rest[n*uint64(idSize):], nil
}
