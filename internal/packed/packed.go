// Package packed reads the column packed of table records, in which ClickHouse
// keeps all columns of a record side by side: a query of whole records opens one
// granule for each record instead of eighteen.
//
//	book       uint8      level       uint8     file, message_preview,
//	signature  16 bytes   line        uint32    exception_class, request_uri,
//	id         uint64     user_id     int64     request_method:
//	version    uint64     ip          16 bytes    their five lengths
//	count      uint64     status      uint8       in bytes, uint32 each,
//	first_seen int64 ms   regressed   uint8       then the five texts
//	last_seen  int64 ms
//
// Numbers are little-endian, in the order of the columns above, left one first.
// The layout is that of migration 00013 and never changes; another layout would be
// another column.
//
// The package does no I/O and knows neither ClickHouse nor SQL.
package packed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"

	errata "github.com/errata-log/errata"
)

// numbersSize is the size of everything before the texts, in bytes.
const numbersSize = 1 + errata.SignatureSize + 5*8 + 1 + 4 + 8 + 16 + 1 + 1 + 5*4

var (
	errShort = errors.New("packed record is cut off")
	errLong  = errors.New("packed record goes on behind its last text")
)

// statuses are the numbers of the column status.
var statuses = [...]errata.Status{errata.StatusOpen, errata.StatusResolved, errata.StatusMuted}

// Decode reads a record. Its texts share memory with the column. An error says that
// the column is not what migration 00013 writes.
func Decode(column string) (errata.Record, error) {
	if len(column) < numbersSize {
		return errata.Record{}, fmt.Errorf("%w: %d bytes of %d before its texts", errShort, len(column), numbersSize)
	}
	in := cursor{column}
	r := errata.Record{
		Book:      errata.Book(in.uint8()),
		Signature: errata.Signature([]byte(in.take(errata.SignatureSize))),
		ID:        errata.Position(in.uint64()),
		Version:   errata.Position(in.uint64()),
		Count:     in.uint64(),
		FirstSeen: in.time(),
		LastSeen:  in.time(),
		Level:     errata.Level(in.uint8()),
		Line:      in.uint32(),
		UserID:    int64(in.uint64()),
		IP:        in.ip(),
	}
	status := in.uint8()
	if int(status) >= len(statuses) {
		return errata.Record{}, fmt.Errorf("packed record has the status %d", status)
	}
	r.Status, r.Regressed = statuses[status], in.uint8() != 0
	return r, in.texts(&r.File, &r.Message, &r.Class, &r.URI, &r.Method)
}

// cursor holds the bytes that are still to be read. Decode makes sure that there
// are enough for each method.
type cursor struct{ rest string }

func (c *cursor) take(n int) string {
	taken := c.rest[:n]
	c.rest = c.rest[n:]
	return taken
}

func (c *cursor) uint8() uint8   { return c.take(1)[0] }
func (c *cursor) uint32() uint32 { return binary.LittleEndian.Uint32([]byte(c.take(4))) }
func (c *cursor) uint64() uint64 { return binary.LittleEndian.Uint64([]byte(c.take(8))) }

func (c *cursor) time() time.Time { return time.UnixMilli(int64(c.uint64())).UTC() }

// ip reads an address as the column holds it: IPv4 mapped, :: for unknown.
func (c *cursor) ip() netip.Addr {
	addr := netip.AddrFrom16([16]byte([]byte(c.take(16))))
	if addr == netip.IPv6Unspecified() {
		return netip.Addr{}
	}
	return addr.Unmap()
}

// texts reads the lengths and then the texts, up to the end.
func (c *cursor) texts(into ...*string) error {
	lengths := make([]uint32, len(into))
	for i := range lengths {
		lengths[i] = c.uint32()
	}
	for i, text := range into {
		if uint64(lengths[i]) > uint64(len(c.rest)) {
			return fmt.Errorf("%w: %d bytes of a text of %d", errShort, len(c.rest), lengths[i])
		}
		*text = c.take(int(lengths[i]))
	}
	if c.rest != "" {
		return fmt.Errorf("%w: %d bytes", errLong, len(c.rest))
	}
	return nil
}
