package errata

import (
	"encoding/hex"
	"errors"
	"strings"
)

// SignatureSize is the length of a signature in bytes.
const SignatureSize = 16

// Signature identifies a problem: the first 16 bytes of a SHA-256, printed as 32
// lower-case hex digits.
type Signature [SignatureSize]byte

// ErrBadSignature is the error for a text that is not 32 hex digits.
var ErrBadSignature = errors.New("a signature is 32 hex digits")

// ParseSignature reads 32 hex digits in either case. The error is ErrBadSignature.
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

// OverflowMark begins the signatures of overflow records. The signature of a
// problem begins with these 8 bytes only by a chance of 1 in 2^64.
const OverflowMark = "overflow"

// Overflow says that the signature is that of an overflow record, which counts the
// events of new problems while their project has no budget for new records.
func (s Signature) Overflow() bool { return string(s[:len(OverflowMark)]) == OverflowMark }
