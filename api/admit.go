package api

import (
	"strings"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/origin"
)

// admit returns nil when the request may pass. Failures of others from the same
// address never limit a working key: a secret of 256 bits cannot be guessed, so
// the limit only keeps failures cheap.
func (s *service) admit(c *call, r route) error {
	s.warnForwarded(c)
	if r.Admission == AdmitAll || r.Admission == AdmitLocal && origin.Local(c.Request) {
		return nil
	}
	key, err := s.Keys.Authenticate(bearer(c))
	if errata.KindOf(err) == errata.KindUnauthorized {
		if wait, ok := s.failedLimits.take(origin.Group(c.client())); !ok {
			return tooMany(wait, "Too many requests without a valid API key came from this address.")
		}
		c.Writer.Header().Set("WWW-Authenticate", `Bearer realm="errata"`)
	}
	if err != nil {
		return err
	}
	c.key = key
	if wait, ok := s.keyLimits.take(key.ID); !ok {
		return tooMany(wait, "This key has used up its requests for now.")
	}
	if r.Admission == AdmitAnyKey {
		if key.Kind == access.KindIngest {
			return errata.Errorf(errata.KindInsufficientScope, "A key for sending events opens nothing else; use a key of kind adm or ops.")
		}
		return nil
	}
	if !key.Allows(r.Scope) {
		return errata.Errorf(errata.KindInsufficientScope, "This key does not hold the scope %s.", r.Scope).With(map[string]any{"scope": r.Scope})
	}
	return nil
}

func tooMany(wait time.Duration, message string) error {
	err := errata.Errorf(errata.KindRateLimited, "%s Wait as long as Retry-After says.", message)
	err.RetryAfter = wait
	return err
}

// bearer is the text of the key: Authorization: Bearer KEY, else X-Api-Key.
func bearer(c *call) string {
	scheme, key, _ := strings.Cut(c.GetHeader("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(key)
	}
	return strings.TrimSpace(c.GetHeader("X-Api-Key"))
}

// warnForwarded tells the operator, once, about a proxy that is not trusted:
// all its callers have the address of the proxy.
func (s *service) warnForwarded(c *call) {
	if s.warnedForwarded.Load() || !origin.Forwarded(c.Request) {
		return
	}
	peer := origin.Peer(c.Request)
	if origin.Trusts(s.TrustedProxies, peer) {
		return
	}
	if s.warnedForwarded.CompareAndSwap(false, true) {
		s.Logger.Warn("a peer that is not trusted sends forwarding headers, which are ignored; if it is your proxy, name it in trusted-proxies",
			"peer", peer.String())
	}
}
