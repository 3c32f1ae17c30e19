package api

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	errata "github.com/errata-log/errata"
)

// Requests stores for a day the answers to requests with an Idempotency-Key,
// for all nodes. Package kept implements it.
type Requests interface {
	// Claim takes the id for a request that is about to be carried out, for a
	// few minutes. When the request was carried out before, it returns what
	// Finish stored. Errors: already_running while another request holds the
	// id, log_unavailable.
	Claim(ctx context.Context, id string) (stored []byte, err error)
	// Finish stores the outcome; nil ends the claim.
	Finish(ctx context.Context, id string, outcome []byte) error
}

const (
	idempotencyHeader = "Idempotency-Key"
	// replayedHeader marks an answer that was given before.
	replayedHeader = "Idempotency-Replayed"
	// The length of an Idempotency-Key: shorter ones collide, longer ones are
	// a mistake.
	minIdempotencyKey, maxIdempotencyKey = 8, 191
)

// outcome is a stored answer. The body is encrypted with the caller's API key:
// it may hold a new API key, which the service must not be able to read.
type outcome struct {
	Status  int    `json:"status"`
	Request string `json:"request"` // hash of method, path and body
	Sealed  []byte `json:"sealed"`
	// Written is the position of what the request has put on the log, 0 for nothing.
	Written uint64 `json:"written,omitempty"`
}

// once runs the handler, or repeats the stored answer to the same
// Idempotency-Key. Sign-in routes are left out: a code must not be good twice.
func (s *service) once(c *call, r route) (answer, error) {
	key, sent := c.idempotencyKey()
	if !sent || r.Method != http.MethodPost || r.Admission != AdmitByScope || !strings.HasPrefix(r.Path, admin+"/") {
		return r.handle(c)
	}
	if n := utf8.RuneCountInString(key); n < minIdempotencyKey || n > maxIdempotencyKey {
		return answer{}, errata.Errorf(errata.KindInvalidIdempotencyKey, "An Idempotency-Key has %d to %d characters, such as a UUID.", minIdempotencyKey, maxIdempotencyKey)
	}
	request, err := c.fingerprint()
	if err != nil {
		return answer{}, err
	}
	id := hexSum(c.key.ID, key)
	stored, err := s.Requests.Claim(c.Request.Context(), id)
	if err != nil {
		return answer{}, err
	}
	seal := sealer(bearer(c), key)
	if stored != nil {
		return c.replay(stored, request, seal)
	}
	a, err := r.handle(c)
	return a, errors.Join(err, s.remember(c, id, request, seal, &a, err))
}

// idempotencyKey is the header of that name, and whether it was sent: a client
// that sends an empty one believes that its request is safe to repeat.
func (c *call) idempotencyKey() (key string, sent bool) {
	values := c.Request.Header.Values(idempotencyHeader)
	if len(values) == 0 {
		return "", false
	}
	return values[0], true
}

// remember stores the answer. It ends the claim of a request that failed, which
// may be tried again.
func (s *service) remember(c *call, id, request string, seal cipher.AEAD, a *answer, failed error) error {
	ctx := context.WithoutCancel(c.Request.Context()) // the request was carried out, even when the caller is gone
	if failed == nil {
		failed = a.encode()
	}
	if failed != nil {
		if err := s.Requests.Finish(ctx, id, nil); err != nil {
			s.Logger.WarnContext(ctx, "the claim of an Idempotency-Key could not be ended; the same key works again in a few minutes", "request_id", c.requestID, "error", err)
		}
		return nil
	}
	data, err := json.Marshal(outcome{Status: a.status, Request: request, Sealed: seal.Seal(nil, nil, a.encoded, []byte(request)), Written: c.written.Last()})
	if err != nil {
		return fmt.Errorf("encode the outcome: %w", err)
	}
	if err := s.Requests.Finish(ctx, id, data); err != nil {
		// The work is done, and the caller must learn that even so.
		s.Logger.WarnContext(ctx, "the answer to an Idempotency-Key could not be stored", "request_id", c.requestID, "error", err)
	}
	return nil
}

// replay repeats a stored answer.
func (c *call) replay(stored []byte, request string, seal cipher.AEAD) (answer, error) {
	var o outcome
	if err := json.Unmarshal(stored, &o); err != nil {
		return answer{}, fmt.Errorf("decode a stored outcome: %w", err)
	}
	if o.Request != request {
		return answer{}, errata.Errorf(errata.KindIdempotencyKeyReused, "This Idempotency-Key came with another request before; take a new one for each request.")
	}
	body, err := seal.Open(nil, nil, o.Sealed, []byte(request))
	if err != nil {
		return answer{}, fmt.Errorf("open a stored outcome: %w", err)
	}
	// Another node may have carried it out. After an answer its effect is in the records of
	// the node that gave it.
	c.written.Note(o.Written)
	if err := c.await(o.Written); err != nil {
		return answer{}, err
	}
	c.Writer.Header().Set(replayedHeader, "true")
	return answer{status: o.Status, encoded: body}, nil
}

// fingerprint tells one request from another. It reads the body and puts it
// back.
func (c *call) fingerprint() (string, error) {
	body, err := c.readBody()
	if err != nil {
		return "", err
	}
	c.Request.Body = io.NopCloser(bytes.NewReader(body))
	return hexSum(c.Request.Method, c.Request.URL.RequestURI(), string(body)), nil
}

// hexSum is the SHA-256 of the parts, each with its length before it, so that
// no two lists of parts give the same text.
func hexSum(parts ...string) string {
	var framed strings.Builder
	for _, part := range parts {
		fmt.Fprintf(&framed, "%d:%s", len(part), part)
	}
	sum := sha256.Sum256([]byte(framed.String()))
	return hex.EncodeToString(sum[:])
}

// sealer makes a cipher from the text of the caller's API key, which is stored
// nowhere.
func sealer(token, idempotencyKey string) cipher.AEAD {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("errata answer v1\x00" + idempotencyKey))
	block, err := aes.NewCipher(mac.Sum(nil))
	if err != nil {
		panic(err) // only for a wrong length of the key
	}
	seal, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // only for a cipher that is not AES
	}
	return seal
}
