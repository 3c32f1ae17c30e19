// Package packed reads and writes the column whole of table records, in which ClickHouse
// keeps all columns of a record side by side: a query of whole records opens one
// granule for each record instead of eighteen.
//
//	book       uint8      level       uint8     file, message_preview,
//	signature  16 bytes   line        uint32    exception_class, request_uri,
//	id         uint64     user_id     int64     request_method:
//	version    uint64     ip          16 bytes    their five lengths
//	count      uint64     status      uint8       in bytes, uint32 each,
//	first_seen int64 ms   regressed   uint8       then the five texts
//	last_seen  int64 ms   noise       uint8     environments, releases:
//	project    uint64                             how many there are, uint32,
//	                                              then length and text of each
//
// Numbers are little-endian, in the order of the columns above, left one first.
// The layout is that of migration 00018 and never changes; another layout would be
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
const numbersSize = 1 + errata.SignatureSize + 6*8 + 1 + 4 + 8 + 16 + 1 + 1 + 1 + 5*4

var (
	errShort = errors.New("packed record is cut off")
	errLong  = errors.New("packed record goes on behind its end")
)

// statuses are the numbers of the column status.
var statuses = [...]errata.Status{errata.StatusOpen, errata.StatusResolved, errata.StatusMuted}

// Decode reads a record. Its texts share memory with the column. An error says that
// the column is not what migration 00018 writes.
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
		Project:   in.uint64(),
		Level:     errata.Level(in.uint8()),
		Line:      in.uint32(),
		UserID:    int64(in.uint64()),
		IP:        in.ip(),
	}
	status := in.uint8()
	if int(status) >= len(statuses) {
		return errata.Record{}, fmt.Errorf("packed record has the status %d", status)
	}
	r.Status, r.Regressed, r.Noise = statuses[status], in.uint8() != 0, in.uint8() != 0
	err := in.texts(&r.File, &r.Message, &r.Class, &r.URI, &r.Method)
	for _, list := range []*[]string{&r.Environments, &r.Releases} {
		if err == nil {
			*list, err = in.list()
		}
	}
	if err == nil && in.rest != "" {
		err = fmt.Errorf("%w: %d bytes", errLong, len(in.rest))
	}
	return r, err
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

// texts reads the lengths and then the texts.
func (c *cursor) texts(into ...*string) error {
	lengths := make([]uint32, len(into))
	for i := range lengths {
		lengths[i] = c.uint32()
	}
	for i, text := range into {
		var err error
		if *text, err = c.text(lengths[i]); err != nil {
			return err
		}
	}
	return nil
}

// list reads how many texts there are, and then each with its length; nil for none.
func (c *cursor) list() (list []string, err error) {
	n, err := c.length()
	if err != nil || n == 0 {
		return nil, err
	}
	if uint64(n) > uint64(len(c.rest)/lengthSize) {
		return nil, fmt.Errorf("%w: %d bytes of %d texts", errShort, len(c.rest), n)
	}
	list = make([]string, n)
	for i := range list {
		length, err := c.length()
		if err == nil {
			list[i], err = c.text(length)
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// lengthSize is the size of a length in bytes.
const lengthSize = 4

func (c *cursor) length() (uint32, error) {
	if len(c.rest) < lengthSize {
		return 0, fmt.Errorf("%w: %d bytes of a length", errShort, len(c.rest))
	}
	return c.uint32(), nil
}

func (c *cursor) text(length uint32) (string, error) {
	if uint64(length) > uint64(len(c.rest)) {
		return "", fmt.Errorf("%w: %d bytes of a text of %d", errShort, len(c.rest), length)
	}
	return c.take(int(length)), nil
}
