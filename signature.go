package errata

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
)

// RecipeVersion is the version of the signature recipe. It is hashed into
// every signature, so that a new recipe can never be mistaken for this one.
const RecipeVersion = 1

// SignatureSize is the length of a signature in bytes.
const SignatureSize = 16

// Signature is the identity of a problem: the first 16 bytes of a SHA-256,
// printed as 32 lower-case hex digits. Records are addressed by it.
type Signature [SignatureSize]byte

// ErrBadSignature is returned for a text that is not 32 hex digits.
var ErrBadSignature = errors.New("a signature is 32 hex digits")

// ParseSignature reads 32 hex digits in either case.
func ParseSignature(text string) (Signature, error) {
	var s Signature
	if len(text) != 2*SignatureSize {
		return s, ErrBadSignature
	}
	if _, err := hex.Decode(s[:], []byte(strings.ToLower(text))); err != nil {
		return s, ErrBadSignature
	}
	return s, nil
}

// String is the signature as 32 lower-case hex digits.
func (s Signature) String() string { return hex.EncodeToString(s[:]) }

// Identity is what the signature recipe looks at. Two events with an equal
// Identity are sightings of one problem.
type Identity struct {
	Book        Book
	Project     uint64 // the application: the number in the key's DSN
	Class       string // exception class, "" when nothing was thrown
	Place       string // source file relative to the install root; no line, because lines move
	Template    string // message with the changing parts replaced, see [Template]
	Fingerprint []string
}

// overflowMark begins the signatures of overflow records. That the signature of
// a problem begins so by chance is as likely as guessing 8 random bytes.
const overflowMark = "overflow"

// SignOverflow is the signature of the record in which the events of new
// problems of an exception class are counted while their project has no budget
// for records of their own; class is "" for those without one. It says by
// itself what it is, see [Signature.Overflow], so that nothing else has to.
func SignOverflow(book Book, project uint64, class string) Signature {
	buf := make([]byte, 0, 160)
	buf = append(buf, RecipeVersion, byte(book))
	buf = binary.AppendUvarint(buf, project)
	buf = appendFramed(append(buf, 'O'), class)
	sum := sha256.Sum256(buf)
	var s Signature
	copy(s[copy(s[:], overflowMark):], sum[:])
	return s
}

// Overflow says that the signature is that of an overflow record.
func (s Signature) Overflow() bool { return string(s[:len(overflowMark)]) == overflowMark }

// Sign computes signature v1: SHA-256 over length-framed fields, cut to 16
// bytes. Length framing makes the input injective: no text can imitate the
// border between two fields. A fingerprint given by the caller stands in for
// class, place and message; book and project always count.
func Sign(id Identity) Signature {
	buf := make([]byte, 0, 256)
	buf = append(buf, RecipeVersion, byte(id.Book))
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
	return Signature(sum[:SignatureSize])
}

func appendFramed(buf []byte, field string) []byte {
	buf = binary.AppendUvarint(buf, uint64(len(field)))
	return append(buf, field...)
}
