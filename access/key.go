package access

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	errata "github.com/errata-log/errata"
)

// Key is what may be known of an API key: everything but its secret.
type Key struct {
	ID     string
	Kind   Kind
	Name   string
	Scopes []Scope // shared: not to be changed
	// Project is the application whose events an ingest key sends, from 1; 0
	// for keys of the other kinds.
	Project uint64
	// Projects are the numbers of the projects that a limited admin key sees and
	// changes, ascending; empty for a key that is not limited. Shared: not to be
	// changed.
	Projects []uint64
	// PublicKey is the Sentry public key of an ingest key, 32 lower-case hex
	// digits; "" for the other kinds.
	PublicKey string
	CreatedAt time.Time
	// ExpiresAt is when the key stops working, the zero time for never.
	ExpiresAt time.Time
	// LastUsedAt is right to about a minute; the zero time for never.
	LastUsedAt time.Time
	// RevokedAt is when the key was revoked, the zero time if it was not.
	RevokedAt time.Time
}

// Allows reports whether the key holds the scope. An ingest key never holds
// anything but EventsWrite, whatever its list says.
func (k Key) Allows(scope Scope) bool {
	if k.Kind == KindIngest && scope != EventsWrite {
		return false
	}
	return slices.ContainsFunc(k.Scopes, func(held Scope) bool { return held.Covers(scope) })
}

// DSN is the address that a Sentry SDK takes: scheme://publicKey@host/project.
// host may carry a port and a path prefix. It is "" for a key that is not an
// ingest key.
func (k Key) DSN(scheme, host string) string {
	if k.PublicKey == "" {
		return ""
	}
	host = strings.TrimRight(host, "/")
	return scheme + "://" + k.PublicKey + "@" + host + "/" + strconv.FormatUint(k.Project, 10)
}

// live reports whether the key works at now.
func (k Key) live(now time.Time) bool {
	return k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || now.Before(k.ExpiresAt))
}

// EndsSoon reports whether the key works at now and ends within WarnBefore.
func (k Key) EndsSoon(now time.Time) bool {
	return k.live(now) && !k.ExpiresAt.IsZero() && k.ExpiresAt.Sub(now) <= WarnBefore
}

const (
	// DefaultLifetime is how long a key works when its maker names no end. An
	// ingest key works until it is revoked: otherwise its application would
	// fall silent one day, and nobody notices silence.
	DefaultLifetime = 365 * 24 * time.Hour
	// WarnBefore is how long before the end of a key the warning begins: time
	// enough to replace it in an application.
	WarnBefore = 30 * 24 * time.Hour
	// MaxProject keeps project numbers within what SDKs in any language read.
	MaxProject = 1<<31 - 1
	// MaxName is the longest name of a key in runes.
	MaxName = 100
	// MaxKeyProjects bounds the projects of one key: they are part of each query and
	// of each change that the key makes.
	MaxKeyProjects = 100
)

// NewKey is what [Store.Create] is asked for.
type NewKey struct {
	// Name is for people: 1 to MaxName printable runes.
	Name string
	Kind Kind
	// Scopes may be left out for ingest and ops keys.
	Scopes []Scope
	// Project is the project of an ingest key; 0 takes the next free number.
	Project uint64
	// Projects limit an admin key to projects; with none the key is not limited. The
	// caller checks that they exist.
	Projects []uint64
	// ExpiresAt is when the key stops working; the zero time takes
	// DefaultLifetime from now, unless NeverExpires is set or it is an ingest key.
	ExpiresAt    time.Time
	NeverExpires bool
}

// check fills the defaults. Errors: invalid_name, invalid_kind, invalid_scope,
// invalid_project, invalid_expiry.
func (n NewKey) check(now time.Time) (NewKey, error) {
	n.Name = strings.TrimSpace(n.Name)
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	switch length := utf8.RuneCountInString(n.Name); {
	case length == 0:
		return n, errata.Errorf(errata.KindInvalidName, "Give the key a name.")
	case length > MaxName:
		return n, errata.Errorf(errata.KindInvalidName, "A key's name has at most %d characters, this one has %d.", MaxName, length)
	case !utf8.ValidString(n.Name) || strings.ContainsFunc(n.Name, unprintable):
		return n, errata.Errorf(errata.KindInvalidName, "A key's name holds printable characters only.")
	}
	if _, known := kindScopes[n.Kind]; !known {
		return n, errata.Errorf(errata.KindInvalidKeyKind, "The kind of a key is adm, ing or ops.")
	}
	var err error
	if n.Scopes, err = checkScopes(n.Kind, n.Scopes); err != nil {
		return n, err
	}
	if n.Kind != KindIngest && n.Project != 0 {
		return n, errata.Errorf(errata.KindInvalidProject, "Only a key of kind ing belongs to a project.")
	}
	if n.Project > MaxProject {
		return n, errata.Errorf(errata.KindInvalidProject, "A project is a number from 1 to %d.", MaxProject)
	}
	if n.Projects, err = checkProjects(n.Kind, n.Projects); err != nil {
		return n, err
	}
	switch {
	case n.NeverExpires, n.Kind == KindIngest && n.ExpiresAt.IsZero():
		n.ExpiresAt = time.Time{}
	case n.ExpiresAt.IsZero():
		n.ExpiresAt = now.Add(DefaultLifetime)
	case !n.ExpiresAt.After(now):
		return n, errata.Errorf(errata.KindInvalidExpiry, "The key would expire before it is made.")
	}
	return n, nil
}
