// Package signature is the recipe by which an event gets the signature of the
// problem it belongs to: what of an event counts ([Identity]), how its message
// and its file are freed of what changes from sighting to sighting ([Template],
// [Place]), and the hash of that ([Sign]).
//
// All of it is recipe version 1. Signatures stand in logs and in tables, so a
// released recipe never changes and stays computable: a better one is version 2,
// with functions of its own beside these.
//
// The package is pure: it does no I/O, reads no clock and no settings.
package signature

import (
	"crypto/sha256"
	"encoding/binary"

	errata "github.com/errata-log/errata"
)

// Version is the version of the recipe. It is hashed into every signature, so
// that those of two recipes can never be equal.
const Version = 1

// Identity is what the signature recipe looks at. Two events with an equal
// Identity are sightings of one problem.
type Identity struct {
	Book        errata.Book
	Project     uint64 // the application: the number in the key's DSN
	Class       string // exception class, "" when nothing was thrown
	Place       string // source file relative to the install root; no line, because lines move
	Template    string // message with the changing parts replaced, see [Template]
	Fingerprint []string
}

// SignOverflow is the signature of the record in which the events of new
// problems of an exception class are counted while their project has no budget
// for records of their own; class is "" for those without one. It says by
// itself what it is, see [errata.Signature.Overflow], so that nothing else has to.
func SignOverflow(book errata.Book, project uint64, class string) errata.Signature {
	buf := make([]byte, 0, 160)
	buf = append(buf, Version, byte(book))
	buf = binary.AppendUvarint(buf, project)
	buf = appendFramed(append(buf, 'O'), class)
	sum := sha256.Sum256(buf)
	var s errata.Signature
	copy(s[copy(s[:], errata.OverflowMark):], sum[:])
	return s
}

// Sign computes signature v1: SHA-256 over length-framed fields, cut to 16
// bytes. Length framing makes the input injective: no text can imitate the
// border between two fields. A fingerprint given by the caller stands in for
// class, place and message; book and project always count.
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
