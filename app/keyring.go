package app

import (
	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/ingest"
)

// senders is what the keyring asks; *access.Store is it.
type senders interface {
	Authenticate(text string) (access.Key, error)
	AuthenticatePublic(publicKey string, project uint64) (access.Key, error)
}

// keyring is the API keys as the receivers see them.
type keyring struct{ keys senders }

var _ ingest.Keyring = keyring{}

// ByToken finds the grant of an API key. Errors: unauthorized,
// insufficient_scope for a key that works and may not send.
func (k keyring) ByToken(token string) (ingest.Grant, error) {
	key, err := k.keys.Authenticate(token)
	if err != nil {
		return ingest.Grant{}, err
	}
	return grantOf(key)
}

// ByPublicKey finds the grant of the key in a DSN.
func (k keyring) ByPublicKey(publicKey string, project uint64) (ingest.Grant, error) {
	key, err := k.keys.AuthenticatePublic(publicKey, project)
	if err != nil {
		return ingest.Grant{}, err
	}
	return grantOf(key)
}

// grantOf refuses keys that belong to no project, admin keys among them: an
// event must say which application it comes from, and only the key knows.
func grantOf(key access.Key) (ingest.Grant, error) {
	if !key.Allows(access.EventsWrite) || key.Project == 0 {
		err := errata.Errorf(errata.KindInsufficientScope, "Events are sent with an ingest key; this key is of another kind.")
		err.Details = map[string]any{"scope": access.EventsWrite}
		return ingest.Grant{}, err
	}
	return ingest.Grant{Project: key.Project, KeyID: key.ID}, nil
}
