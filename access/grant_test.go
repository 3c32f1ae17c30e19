package access_test

import (
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/test/testenv"
)

func newKeyStore(t *testing.T) *access.Store {
	t.Helper()
	env := testenv.NewBroker(t)
	bucket, err := env.JetStream.KeyValue(t.Context(), migrations.KeysBucket(env.Namespace))
	if err != nil {
		t.Fatal(err)
	}
	store, err := access.Open(t.Context(), access.Config{Bucket: bucket})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store
}

func TestGrants(t *testing.T) {
	store := newKeyStore(t)
	_, adminText, err := store.Create(t.Context(), access.NewKey{Name: "admin", Kind: access.KindAdmin, Scopes: []access.Scope{access.Everything}})
	if err != nil {
		t.Fatal(err)
	}
	ingest, ingestText, err := store.Create(t.Context(), access.NewKey{Name: "shop", Kind: access.KindIngest, Project: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		project uint64
		kind    errata.Kind // "" for a grant
		ask     func() (project uint64, keyID string, err error)
	}{
		{"ingest key", 1, "", func() (uint64, string, error) {
			g, err := store.ByToken(ingestText)
			return g.Project, g.KeyID, err
		}},
		{"admin key", 0, errata.KindInsufficientScope, func() (uint64, string, error) {
			g, err := store.ByToken(adminText)
			return g.Project, g.KeyID, err
		}},
		{"no key", 0, errata.KindUnauthorized, func() (uint64, string, error) {
			g, err := store.ByToken("eik_ing_x")
			return g.Project, g.KeyID, err
		}},
		{"public key", 1, "", func() (uint64, string, error) {
			g, err := store.ByPublicKey(ingest.PublicKey, 1)
			return g.Project, g.KeyID, err
		}},
		{"public key of another project", 0, errata.KindUnauthorized, func() (uint64, string, error) {
			g, err := store.ByPublicKey(ingest.PublicKey, 2)
			return g.Project, g.KeyID, err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			project, id, err := c.ask()
			if c.kind == "" {
				if err != nil || project != c.project || id != ingest.ID {
					t.Errorf("got project %d of key %q, %v; want %d of %q", project, id, err, c.project, ingest.ID)
				}
				return
			}
			if errata.KindOf(err) != c.kind || id != "" {
				t.Errorf("got key %q, error %v; want %s", id, err, c.kind)
			}
		})
	}
}
