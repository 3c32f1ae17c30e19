package door

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
)

// ByToken finds the grant of the API key in Authorization: Bearer or
// X-Api-Key. Errors: unauthorized, project_archived, and those of the keyring.
func (d *Door) ByToken(r *http.Request) (access.Grant, error) {
	token := r.Header.Get("X-Api-Key")
	if scheme, rest, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		token = strings.TrimSpace(rest)
	}
	if token == "" {
		return access.Grant{}, errata.Errorf(errata.KindUnauthorized,
			"send an ingest key as Authorization: Bearer KEY or X-Api-Key: KEY")
	}
	return d.active(d.Keyring.ByToken(token))
}

// active refuses the grant of an archived project.
func (d *Door) active(g access.Grant, err error) (access.Grant, error) {
	if err != nil {
		return g, err
	}
	if refused := d.Archived.Refusal(g.Project); refused != nil {
		return access.Grant{}, refused
	}
	return g, nil
}

// ByPublicKey finds the grant of a Sentry public key. An unknown key and a
// foreign project get the same answer, insufficient_scope, so that nobody
// learns which projects there are. A good key of an archived project gets
// project_archived.
func (d *Door) ByPublicKey(key string, project uint64) (access.Grant, error) {
	if !isPublicKey(key) {
		return access.Grant{}, unknownKey()
	}
	grant, err := d.Keyring.ByPublicKey(key, project)
	switch errata.KindOf(err) {
	case errata.KindUnauthorized, errata.KindInsufficientScope, errata.KindNotFound:
		return access.Grant{}, unknownKey().Because(err)
	}
	return d.active(grant, err)
}

func unknownKey() *errata.Error {
	return errata.Errorf(errata.KindInsufficientScope, "the key is not known or not for this project; check the DSN")
}

// isPublicKey says whether a text has the form of a public key. Other texts do not
// reach the keyring.
func isPublicKey(key string) bool {
	return len(key) == 32 && strings.Trim(key, "0123456789abcdef") == ""
}

// PublicKey finds the public key of a request where SDKs put it. It takes the first
// of: query parameter sentry_key, header X-Sentry-Auth, header Authorization with
// scheme Sentry, user of Basic authorization. ok is false if there is none. The
// keyring says whether the key is good.
func PublicKey(r *http.Request) (key string, ok bool) {
	key = cmp.Or(queryKey(r.URL.RawQuery), headerKey(r.Header.Get("X-Sentry-Auth")), headerKey(r.Header.Get("Authorization")))
	if key == "" {
		key, _, _ = r.BasicAuth()
	}
	return key, key != ""
}

// queryKey reads sentry_key out of a raw query without parsing the rest.
func queryKey(query string) string {
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if name != "sentry_key" {
			continue
		}
		if key, err := url.QueryUnescape(value); err == nil && key != "" {
			return key
		}
	}
	return ""
}

// headerKey reads "Sentry sentry_version=7, sentry_key=K": the scheme in any
// case, the pairs in any order.
func headerKey(header string) string {
	const scheme = "sentry"
	if len(header) <= len(scheme) || !strings.EqualFold(header[:len(scheme)], scheme) || header[len(scheme)] != ' ' {
		return ""
	}
	for pair := range strings.SplitSeq(header[len(scheme)+1:], ",") {
		name, value, _ := strings.Cut(pair, "=")
		if strings.EqualFold(strings.TrimSpace(name), "sentry_key") {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return ""
}
