package alerts

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
)

// Seal encrypts what channels keep secret.
type Seal struct{ gcm cipher.AEAD }

// NewSeal makes a seal of 32 random bytes. All nodes of a service need the same ones.
func NewSeal(master []byte) (*Seal, error) {
	key, err := hkdf.Key(sha256.New, master, nil, "errata alerts channels", 32)
	if err != nil {
		return nil, fmt.Errorf("alerts: derive the key of channels: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("alerts: prepare the cipher: %w", err)
	}
	gcm, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("alerts: prepare the cipher: %w", err)
	}
	return &Seal{gcm}, nil
}

// secrets are what is sealed of a channel.
type secrets struct {
	URL    string `json:"url"`
	Secret string `json:"secret"`
}

// Close is the channel with its URL and secret sealed. They open in this channel only.
func (s *Seal) Close(c Channel) (Channel, error) {
	text, err := json.Marshal(secrets{c.URL, c.Secret}) //nolint:gosec // it is encrypted in the next step
	if err != nil {
		return Channel{}, fmt.Errorf("seal a channel: %w", err)
	}
	c.URL, c.Secret, c.Sealed = "", "", s.gcm.Seal(nil, nil, text, []byte(c.ID))
	return c, nil
}

// errSealed says that a channel does not open.
var errSealed = errors.New("the secrets of the channel do not open: they were sealed with another server secret, or changed")

// Open is the channel with its URL and secret.
func (s *Seal) Open(c Channel) (Channel, error) {
	text, err := s.gcm.Open(nil, nil, c.Sealed, []byte(c.ID))
	var plain secrets
	if err != nil || json.Unmarshal(text, &plain) != nil {
		return Channel{}, fmt.Errorf("channel %s: %w", c.ID, errSealed)
	}
	c.URL, c.Secret, c.Sealed = plain.URL, plain.Secret, nil
	return c, nil
}
