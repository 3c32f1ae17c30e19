package client

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// eventsPath is where the service takes events.
const eventsPath = "/api/v1/events"

// target is the address for the events, and the key.
type target struct {
	endpoint string
	// bearer is the text of an ingest key, "" for a public key.
	bearer string
	// public and project are the public key and the project of a DSN.
	public, project string
}

// parseDSN reads scheme://KEY@host[:port][/prefix]/PROJECT. KEY is the public
// key in the DSN that "errata keys create" prints, or the text of an ingest key,
// which belongs to a project.
func parseDSN(dsn string) (target, error) {
	u, err := url.Parse(dsn)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User.Username() == "" {
		// Not the error of url.Parse, which quotes the key.
		return target{}, errors.New("the DSN must look like http://KEY@host:port/PROJECT; \"errata keys create NAME\" prints one")
	}
	slash := strings.LastIndexByte(strings.TrimRight(u.Path, "/"), '/')
	if slash < 0 {
		return target{}, errors.New("the DSN must end in the number of the project: http://KEY@host:port/PROJECT")
	}
	prefix, project := u.Path[:slash], strings.Trim(u.Path[slash:], "/")
	t := target{endpoint: u.Scheme + "://" + u.Host + prefix + eventsPath}
	key := u.User.Username()
	if !isPublicKey(key) {
		t.bearer = key
		return t, nil
	}
	t.public, t.project = key, project
	if strings.Trim(project, "0123456789") != "" {
		return target{}, fmt.Errorf("the project %q in the DSN is not a number", project)
	}
	return t, nil
}

// parseURL reads the address of the service and the text of an ingest key.
func parseURL(address, key string) (target, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return target{}, fmt.Errorf("the URL must look like http://host:port, not %q", address)
	}
	if key == "" {
		return target{}, errors.New("an ingest key is needed beside the URL; \"errata keys create NAME\" prints one")
	}
	path := strings.TrimSuffix(strings.TrimRight(u.Path, "/"), eventsPath)
	return target{endpoint: u.Scheme + "://" + u.Host + path + eventsPath, bearer: key}, nil
}

// isPublicKey says whether a key is the public one of a DSN: 32 hex digits.
func isPublicKey(key string) bool {
	return len(key) == 32 && strings.Trim(key, "0123456789abcdef") == ""
}
