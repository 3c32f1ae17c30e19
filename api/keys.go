package api

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/origin"
)

// Keys are the API keys; an *[access.Store] has them.
type Keys interface {
	// Authenticate finds the working key with this text. Errors: unauthorized.
	Authenticate(text string) (access.Key, error)
	List() []access.Key
	Create(ctx context.Context, n access.NewKey) (access.Key, string, error)
	Revoke(ctx context.Context, id string) error
}

// keyJSON is a key in answers.
type keyJSON struct {
	ID     string         `json:"id"`
	Name   string         `json:"name"`
	Kind   access.Kind    `json:"kind"`
	Scopes []access.Scope `json:"scopes"`
	// Project is 0 for keys that are not for sending events.
	Project uint64 `json:"project"`
	// Projects are those of a limited key; empty for a key that sees all projects.
	Projects  []uint64       `json:"projects"`
	State     string         `json:"state"` // active, expired or revoked
	CreatedAt errata.Instant `json:"created_at"`
	ExpiresAt errata.Instant `json:"expires_at"`
	// EndsSoon says that the key works and ends within access.WarnBefore.
	EndsSoon   bool           `json:"ends_soon"`
	LastUsedAt errata.Instant `json:"last_used_at"`
	RevokedAt  errata.Instant `json:"revoked_at"`
	DSN        string         `json:"dsn,omitempty"`
	// Key is the text of a new key; nothing else ever shows it.
	Key string `json:"key,omitempty"`
}

// newKeyJSON is the body of POST keys.
type newKeyJSON struct {
	Name    string         `json:"name"`
	Kind    access.Kind    `json:"kind"`
	Scopes  []access.Scope `json:"scopes" null:"absent"`
	Project uint64         `json:"project"`
	// Projects limit a key of kind adm; with none it sees all projects.
	Projects []uint64 `json:"projects" null:"absent"`
	// ExpiresInDays may be left out; 0 means never. See [access.NewKey].
	ExpiresInDays *int `json:"expires_in_days" null:"absent"`
}

// maxLifetimeDays is a century: who wants more means never.
const maxLifetimeDays = 36500

func (s *service) listKeys(c *call) (answer, error) {
	seen := slices.DeleteFunc(s.Keys.List(), func(key access.Key) bool { return !c.key.Governs(key) })
	return answer{data: mapped(seen, func(key *access.Key) keyJSON { return s.keyOf(c, *key) })}, nil
}

func (s *service) createKey(c *call, body newKeyJSON) (answer, error) {
	n := access.NewKey{Name: body.Name, Kind: body.Kind, Scopes: body.Scopes, Project: body.Project, Projects: body.Projects}
	if days := body.ExpiresInDays; days != nil {
		if *days < 0 || *days > maxLifetimeDays {
			return answer{}, errata.Errorf(errata.KindInvalidExpiry, "expires_in_days is a number from 0 (never) to %d.", maxLifetimeDays)
		}
		n.NeverExpires = *days == 0
		n.ExpiresAt = s.Now().Add(time.Duration(*days) * 24 * time.Hour)
	}
	n, err := withinMaker(c.key, n, s.Now())
	if err != nil {
		return answer{}, err
	}
	if n, err = confineNew(c.key, n); err != nil {
		return answer{}, err
	}
	if err := s.checkProjects(c, n.Projects); err != nil {
		return answer{}, err
	}
	key, text, err := s.Keys.Create(c.Request.Context(), n)
	if err != nil {
		return answer{}, err
	}
	made := s.keyOf(c, key)
	made.Key = text
	return answer{status: http.StatusCreated, data: made}, nil
}

// withinMaker refuses a new key that may do more or works longer than its
// maker, and gives it an end where its maker has one. Ingest keys are exempt:
// everybody can read them in an application, and Keys/Manage is mostly given to
// make them. Errors: insufficient_scope, invalid_expiry.
func withinMaker(maker access.Key, n access.NewKey, now time.Time) (access.NewKey, error) {
	if n.Kind == access.KindIngest {
		return n, nil
	}
	scopes := n.Scopes
	if len(scopes) == 0 {
		scopes = access.DefaultScopes(n.Kind)
	}
	if scope, lacks := lacking(maker, scopes); lacks {
		return n, errata.Errorf(errata.KindInsufficientScope, "A key can only hand out scopes that it holds itself.").With(map[string]any{"scope": scope})
	}
	if maker.ExpiresAt.IsZero() {
		return n, nil
	}
	if n.NeverExpires || n.ExpiresAt.After(maker.ExpiresAt) {
		days := int(maker.ExpiresAt.Sub(now) / (24 * time.Hour))
		return n, errata.Errorf(errata.KindInvalidExpiry,
			"Your key ends in %d days and cannot make one that works longer. Ask for at most as many, or leave expires_in_days out for the same end.", days)
	}
	if n.ExpiresAt.IsZero() && now.Add(access.DefaultLifetime).After(maker.ExpiresAt) {
		n.ExpiresAt = maker.ExpiresAt
	}
	return n, nil
}

// lacking is the first of the scopes that the key does not hold.
func lacking(key access.Key, scopes []access.Scope) (scope access.Scope, lacks bool) {
	i := slices.IndexFunc(scopes, func(s access.Scope) bool { return !key.Allows(s) })
	if i < 0 {
		return "", false
	}
	return scopes[i], true
}

func (s *service) revokeKey(c *call) (answer, error) {
	id := c.Param("id")
	if err := s.mayRevoke(c.key, id); err != nil {
		return answer{}, err
	}
	return reply(map[string]any{"id": id, "revoked": true}, s.Keys.Revoke(c.Request.Context(), id))
}

// mayRevoke keeps a key from ending a more powerful one, and one that it does not see.
// The scopes and projects of a key never change, so those of the list still hold when
// it is revoked. Errors: insufficient_scope, not_found.
func (s *service) mayRevoke(holder access.Key, id string) error {
	if id == holder.ID {
		return nil
	}
	for _, key := range s.Keys.List() {
		if key.ID != id {
			continue
		}
		if !holder.Governs(key) {
			return access.ErrNoKey
		}
		if key.Kind == access.KindIngest {
			return nil
		}
		if scope, lacks := lacking(holder, key.Scopes); lacks {
			return errata.Errorf(errata.KindInsufficientScope, "A key can only end keys whose scopes it holds itself.").With(map[string]any{"scope": scope})
		}
		return nil
	}
	if holder.Limited() { // another node may have made it, for any project
		return access.ErrNoKey
	}
	return nil
}

func (s *service) keyOf(c *call, key access.Key) keyJSON {
	scheme, host := s.publicAddress(c)
	return keyJSON{
		ID: key.ID, Name: key.Name, Kind: key.Kind, Scopes: key.Scopes, Project: key.Project, Projects: orEmpty(key.Projects),
		State:     stateOf(key, s.Now()),
		CreatedAt: errata.Instant(key.CreatedAt), ExpiresAt: errata.Instant(key.ExpiresAt), EndsSoon: key.EndsSoon(s.Now()),
		LastUsedAt: errata.Instant(key.LastUsedAt), RevokedAt: errata.Instant(key.RevokedAt),
		DSN: key.DSN(scheme, host),
	}
}

func stateOf(key access.Key, now time.Time) string {
	switch {
	case !key.RevokedAt.IsZero():
		return "revoked"
	case !key.ExpiresAt.IsZero() && !now.Before(key.ExpiresAt):
		return "expired"
	default:
		return "active"
	}
}

// publicAddress is where applications reach the service: as configured, or as
// this administrator reached it.
func (s *service) publicAddress(c *call) (scheme, host string) {
	if u, err := url.Parse(s.PublicURL); err == nil && u.Host != "" {
		return u.Scheme, u.Host + strings.TrimRight(u.Path, "/")
	}
	if c.Request.TLS != nil || origin.Trusts(s.TrustedProxies, origin.Peer(c.Request)) && strings.EqualFold(c.GetHeader("X-Forwarded-Proto"), "https") {
		return "https", c.Request.Host
	}
	return "http", c.Request.Host
}
