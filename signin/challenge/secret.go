package challenge

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/errata-log/errata/internal/secretfile"
)

const (
	// SecretFile is the name of the file that [LoadSecret] reads and makes.
	SecretFile = "signin.secret"
	// keyBytes is the length of each key made of it, for AES-256 and SHA-256.
	keyBytes = 32
)

// Secret is the server secret. Six digits can be guessed in a second by anybody
// who can compute their hash, so hashes need a key that is not stored with
// them. All nodes of a service need the same secret.
type Secret struct {
	codes, owners, apps [keyBytes]byte
	fingerprint         string
}

// NewSecret makes the keys of 32 random bytes.
func NewSecret(master []byte) (*Secret, error) {
	if len(master) != secretfile.Bytes {
		return nil, fmt.Errorf("challenge: the server secret has %d bytes and must have %d", len(master), secretfile.Bytes)
	}
	s := &Secret{}
	var fingerprint [keyBytes]byte
	for label, key := range map[string]*[keyBytes]byte{
		"codes": &s.codes, "owners": &s.owners, "apps": &s.apps, "fingerprint": &fingerprint,
	} {
		derived, err := hkdf.Key(sha256.New, master, nil, "errata sign-in "+label, keyBytes)
		if err != nil {
			return nil, fmt.Errorf("challenge: derive the key for %s: %w", label, err)
		}
		copy(key[:], derived)
	}
	s.fingerprint = hex.EncodeToString(fingerprint[:16])
	return s, nil
}

// LoadSecret reads the server secret of a folder, and makes it when there is none.
func LoadSecret(dir string) (*Secret, error) {
	master, err := secretfile.Load(dir, SecretFile, "authenticator apps must be set up anew")
	if err != nil {
		return nil, err
	}
	return NewSecret(master)
}

// mac is HMAC-SHA-256 over the parts, each with its length, so that no two lists
// of parts look the same.
func mac(key [keyBytes]byte, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key[:])
	for _, part := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write(part)
	}
	return h.Sum(nil)
}

// nameOf is the name of words in a bucket, in hex. Without the secret nobody
// can find or test the words of a name.
func (s *Secret) nameOf(words ...string) string {
	parts := make([][]byte, len(words))
	for i, word := range words {
		parts[i] = []byte(word)
	}
	return hex.EncodeToString(mac(s.owners, parts...)[:16])
}
