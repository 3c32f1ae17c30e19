package sentry

import (
	"net/http"
	"net/url"
	"strings"
)

// PublicKey finds the public key of a request in the forms that SDKs use,
// first found: query parameter sentry_key, header X-Sentry-Auth, header
// Authorization with scheme Sentry, Basic authorization with the key as user.
// ok is false when there is none; whether the key is good is for the keyring.
func PublicKey(r *http.Request) (key string, ok bool) {
	if key := queryKey(r.URL.RawQuery); key != "" {
		return key, true
	}
	if key := headerKey(r.Header.Get("X-Sentry-Auth")); key != "" {
		return key, true
	}
	if key := headerKey(r.Header.Get("Authorization")); key != "" {
		return key, true
	}
	if user, _, basic := r.BasicAuth(); basic && user != "" {
		return user, true
	}
	return "", false
}

// queryKey reads sentry_key out of a raw query without building the others.
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

// dsnKey is the public key in a DSN, "" when there is none.
func dsnKey(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil || u.User == nil {
		return ""
	}
	return u.User.Username()
}
