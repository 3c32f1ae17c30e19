package challenge

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

const (
	// SecretFile is the name of the file that [LoadSecret] reads and makes.
	SecretFile = "signin.secret"
	// secretBytes is the length of a server secret.
	secretBytes = 32
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
	if len(master) != secretBytes {
		return nil, fmt.Errorf("challenge: the server secret has %d bytes and must have %d", len(master), secretBytes)
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

// LoadSecret reads the server secret of a folder, and makes it with mode 0600
// when there is none. Two processes that start at the same time get the same
// secret. Errors say what to do; a secret is never replaced.
func LoadSecret(dir string) (*Secret, error) {
	path := filepath.Join(dir, SecretFile)
	master, err := readSecret(path)
	if errors.Is(err, os.ErrNotExist) {
		if err = makeSecret(dir, path); err == nil {
			master, err = readSecret(path)
		}
	}
	if err != nil {
		return nil, err
	}
	return NewSecret(master)
}

func readSecret(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the server secret: %w", err)
	}
	defer file.Close()
	stat, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the server secret: %w", err)
	}
	switch {
	case !stat.Mode().IsRegular():
		return nil, fmt.Errorf("read the server secret: %s is not a file", path)
	case runtime.GOOS != "windows" && stat.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("the server secret %s can be read by others (mode %04o): run chmod 600 on it", path, stat.Mode().Perm())
	case stat.Size() != secretBytes:
		return nil, fmt.Errorf("the server secret %s has %d bytes and must have %d: put the right file back; without it, authenticator apps must be set up anew",
			path, stat.Size(), secretBytes)
	}
	master := make([]byte, secretBytes)
	if _, err := io.ReadFull(file, master); err != nil {
		return nil, fmt.Errorf("read the server secret: %w", err)
	}
	return master, nil
}

// makeSecret writes the file under another name first: nobody ever sees half of
// it, and a link, unlike a rename, never replaces the one of a faster process.
func makeSecret(dir, path string) (err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder for the server secret: %w", err)
	}
	master := make([]byte, secretBytes)
	if _, err := rand.Read(master); err != nil {
		return fmt.Errorf("draw the server secret: %w", err)
	}
	file, err := os.CreateTemp(dir, ".signin-*") // mode 0600
	if err != nil {
		return fmt.Errorf("make the server secret: %w", err)
	}
	defer func() { _ = os.Remove(file.Name()) }() // it is linked by now, or useless
	_, err = file.Write(master)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("write the server secret: %w", err)
	}
	if err := os.Link(file.Name(), path); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("put the server secret in its place: %w", err)
	}
	return nil
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
