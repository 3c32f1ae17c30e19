package alerts

import (
	"encoding/base64"
	"strings"
)

const (
	// signingPrefix begins the secret of a webhook, as Standard Webhooks writes it.
	signingPrefix = "whsec_"
	// minSigning and maxSigning are the lengths in bytes that Standard Webhooks asks for.
	minSigning = 24
	maxSigning = 64
)

// SigningKey reads the secret of a webhook (https://www.standardwebhooks.com).
func SigningKey(secret string) ([]byte, error) {
	text, begins := strings.CutPrefix(secret, signingPrefix)
	key, err := base64.StdEncoding.DecodeString(text)
	if !begins || err != nil || len(key) < minSigning || len(key) > maxSigning {
		return nil, invalid("secret", "secret is %s and then %d to %d bytes in Base64; leave it out to get one.", signingPrefix, minSigning, maxSigning)
	}
	return key, nil
}
