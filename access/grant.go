package access

import errata "github.com/errata-log/errata"

// Grant is what an ingest key allows its holder: to send events for one project.
type Grant struct {
	Project uint64
	KeyID   string
}

// ByToken finds the grant of an API key, given as bearer text. Errors:
// unauthorized, insufficient_scope for a key that works and may not send.
func (s *Store) ByToken(token string) (Grant, error) { return grantOf(s.Authenticate(token)) }

// ByPublicKey finds the grant of the key in a DSN; see [Store.AuthenticatePublic].
func (s *Store) ByPublicKey(publicKey string, project uint64) (Grant, error) {
	return grantOf(s.AuthenticatePublic(publicKey, project))
}

// grantOf refuses keys that belong to no project, admin keys among them: an
// event must say which application it comes from, and only the key knows.
func grantOf(key Key, err error) (Grant, error) {
	if err != nil {
		return Grant{}, err
	}
	if !key.Allows(EventsWrite) || key.Project == 0 {
		return Grant{}, errata.Errorf(errata.KindInsufficientScope, "Events are sent with an ingest key; this key is of another kind.").
			With(map[string]any{"scope": EventsWrite})
	}
	return Grant{Project: key.Project, KeyID: key.ID}, nil
}
