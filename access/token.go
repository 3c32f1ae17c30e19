package access

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/big"
	"strings"
)

// Kind says what a key is for. It stands in the key's text, so that a leaked
// key tells at a glance how bad it is.
type Kind string

// The kinds of keys.
const (
	KindAdmin  Kind = "adm" // people and programs that administer
	KindIngest Kind = "ing" // applications that send events
	KindOps    Kind = "ops" // monitoring
)

// Kinds are all kinds of keys.
var Kinds = []Kind{KindAdmin, KindIngest, KindOps}

// The text of a key is
//
//	eik_<kind>_<id, 12 digits>_<secret, 43 digits>_<checksum, 6 digits>
//
// with digits in base 62. Every part has a fixed length, so that a scanner
// finds leaked keys with one pattern.
const (
	tokenPrefix = "eik_"
	kindSize    = 3
	idSize      = 12 // 71 bits: two ids never meet
	secretSize  = 43 // the digits that 256 bits take in base 62
	crcSize     = 6  // the digits that 32 bits take

	kindAt   = len(tokenPrefix)
	idAt     = kindAt + kindSize + 1
	secretAt = idAt + idSize + 1
	crcAt    = secretAt + secretSize + 1

	// TokenSize is the length of every key's text in bytes.
	TokenSize = crcAt + crcSize
)

// secretBytes is the entropy of a secret. At 256 bits a plain SHA-256 keeps it
// safe: a slow hash only protects what can be guessed.
const secretBytes = 32

// digits are those of math/big in base 62.
const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// ErrMalformed is returned for a text that is no key: wrong shape or wrong
// checksum. It says nothing about which keys exist.
var ErrMalformed = errors.New("not an API key")

// Token is the content of a key's text.
type Token struct {
	Kind   Kind
	ID     string
	Secret string
}

// Mint makes a new token of the kind from random bytes.
func Mint(random io.Reader, kind Kind) (Token, error) {
	id, err := randomDigits(random, idSize)
	if err != nil {
		return Token{}, fmt.Errorf("draw the key's id: %w", err)
	}
	var raw [secretBytes]byte
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return Token{}, fmt.Errorf("draw the key's secret: %w", err)
	}
	secret := new(big.Int).SetBytes(raw[:]).Text(len(digits))
	secret = strings.Repeat("0", secretSize-len(secret)) + secret
	return Token{Kind: kind, ID: id, Secret: secret}, nil
}

// randomDigits draws n independent base-62 digits.
func randomDigits(random io.Reader, n int) (string, error) {
	// Bytes from here up would make the first digits likelier than the others.
	const fair = 256 - 256%len(digits)
	text := make([]byte, 0, n)
	for len(text) < n {
		var b [1]byte
		if _, err := io.ReadFull(random, b[:]); err != nil {
			return "", err
		}
		if int(b[0]) < fair {
			text = append(text, digits[int(b[0])%len(digits)])
		}
	}
	return string(text), nil
}

// Text is the token as its holder writes it. It holds the secret.
func (t Token) Text() string {
	text := tokenPrefix + string(t.Kind) + "_" + t.ID + "_" + t.Secret + "_"
	crc := checksum(text[:crcAt-1])
	return text + string(crc[:])
}

// ParseToken reads a key's text. It tells typing mistakes from keys by the
// checksum alone and never looks anything up. The error is ErrMalformed.
func ParseToken(text string) (Token, error) {
	if len(text) != TokenSize || text[:kindAt] != tokenPrefix ||
		text[idAt-1] != '_' || text[secretAt-1] != '_' || text[crcAt-1] != '_' {
		return Token{}, ErrMalformed
	}
	t := Token{
		Kind:   Kind(text[kindAt : idAt-1]),
		ID:     text[idAt : secretAt-1],
		Secret: text[secretAt : crcAt-1],
	}
	crc := checksum(text[:crcAt-1])
	_, kindKnown := kindScopes[t.Kind]
	if !kindKnown || !allDigits(t.ID) || !allDigits(t.Secret) || string(crc[:]) != text[crcAt:] {
		return Token{}, ErrMalformed
	}
	return t, nil
}

// checksum is the CRC-32 of text as six digits.
func checksum(text string) [crcSize]byte {
	// Updating byte by byte keeps the text off the heap.
	table, crc := crc32.IEEETable, ^uint32(0)
	for i := range len(text) {
		crc = table[byte(crc)^text[i]] ^ crc>>8
	}
	crc = ^crc
	var out [crcSize]byte
	for i := crcSize - 1; i >= 0; i-- {
		out[i] = digits[crc%uint32(len(digits))]
		crc /= uint32(len(digits))
	}
	return out
}

func allDigits(text string) bool {
	for i := range len(text) {
		c := text[i]
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z') {
			return false
		}
	}
	return true
}

// hashSecret is what is stored of a secret.
func hashSecret(secret string) [sha256.Size]byte {
	var buf [secretSize]byte
	return sha256.Sum256(buf[:copy(buf[:], secret)])
}

// PublicKeySize is the length of a public key in hex digits.
const PublicKeySize = 32

// publicKeyOf derives the Sentry public key of an ingest key. It stands in the
// DSN for everybody to read; the secret cannot be told from it.
func publicKeyOf(secret string) string {
	sum := sha256.Sum256([]byte("errata dsn v1\x00" + secret))
	return hex.EncodeToString(sum[:PublicKeySize/2])
}
