package packed

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"time"

	errata "github.com/errata-log/errata"
)

// Append appends the column of a record, as migration 00018 writes it.
func Append(dst []byte, r *errata.Record) []byte {
	dst = append(dst, byte(r.Book))
	dst = append(dst, r.Signature[:]...)
	for _, n := range [...]uint64{uint64(r.ID), uint64(r.Version), r.Count, millis(r.FirstSeen), millis(r.LastSeen), r.Project} {
		dst = binary.LittleEndian.AppendUint64(dst, n)
	}
	dst = append(dst, byte(r.Level))
	dst = binary.LittleEndian.AppendUint32(dst, r.Line)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(r.UserID))
	ip := netip.IPv6Unspecified().As16()
	if r.IP.IsValid() {
		ip = r.IP.As16()
	}
	dst = append(dst, ip[:]...)
	dst = append(dst, byte(slices.Index(statuses[:], r.Status)), flag(r.Regressed), flag(r.Noise))
	texts := [...]string{r.File, r.Message, r.Class, r.URI, r.Method}
	for _, text := range texts {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(text)))
	}
	for _, text := range texts {
		dst = append(dst, text...)
	}
	for _, list := range [...][]string{r.Environments, r.Releases} {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(list)))
		for _, text := range list {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(len(text)))
			dst = append(dst, text...)
		}
	}
	return dst
}

func millis(t time.Time) uint64 { return uint64(t.UnixMilli()) }

func flag(set bool) byte {
	if set {
		return 1
	}
	return 0
}
