// Package signature is the recipe for signatures. It says which parts of an event
// count ([Identity]), removes from its message and its file what changes from
// event to event ([Template], [Place]), and hashes the result ([Sign]).
//
// All of it is version 1 of the recipe. Signatures stand in logs and in tables,
// so a released recipe never changes and is never removed. A better one is
// version 2, with its own functions beside these.
//
// The package is pure: it does no I/O and reads no clock and no settings.
package signature

import (
	"crypto/sha256"
	"encoding/binary"

	errata "github.com/errata-log/errata"
)

// Version is the version of the recipe. It is hashed into every signature, so
// that the signatures of two recipes differ.
const Version = 1

// Identity is the part of an event that decides about its signature. Two events
// with an equal Identity belong to one problem.
type Identity struct {
	Book        errata.Book
	Project     uint64 // the application: the number in the key's DSN
	Class       string // exception class, "" when nothing was thrown
	Place       string // source file relative to the install root; no line, because lines move
	Template    string // message with the changing parts replaced, see [Template]
	Fingerprint []string
}

// SignOverflow is the signature of an overflow record: it counts the events of
// new problems of one exception class while their project has no budget for new
// records. class is "" for events without one. [errata.Signature.Overflow]
// recognises the signature.
func SignOverflow(book errata.Book, project uint64, class string) errata.Signature {
	buf := make([]byte, 0, 160)
	buf = append(buf, Version, byte(book))
	buf = binary.AppendUvarint(buf, project)
	buf = appendFramed(append(buf, 'O'), class)
	sum := sha256.Sum256(buf)
	return errata.Signature(append([]byte(errata.OverflowMark), sum[:]...)[:errata.SignatureSize])
}

// Sign computes signature v1: SHA-256 over length-framed fields, cut to 16
// bytes. With the lengths in front, no text can imitate the border between two
// fields. A fingerprint replaces class, place and template; book and project
// always count.
func Sign(id Identity) errata.Signature {
	buf := make([]byte, 0, 256)
	buf = append(buf, Version, byte(id.Book))
	buf = binary.AppendUvarint(buf, id.Project)
	if len(id.Fingerprint) > 0 {
		buf = append(buf, 'F')
		buf = binary.AppendUvarint(buf, uint64(len(id.Fingerprint)))
		for _, part := range id.Fingerprint {
			buf = appendFramed(buf, part)
		}
	} else {
		buf = append(buf, 'M')
		buf = appendFramed(buf, id.Class)
		buf = appendFramed(buf, id.Place)
		buf = appendFramed(buf, id.Template)
	}
	sum := sha256.Sum256(buf)
	return errata.Signature(sum[:errata.SignatureSize])
}

func appendFramed(buf []byte, field string) []byte {
	buf = binary.AppendUvarint(buf, uint64(len(field)))
	return append(buf, field...)
}
