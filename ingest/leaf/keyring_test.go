package leaf

import (
	"errors"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// nobody is a keyring without keys.
type nobody struct{}

var errUnknown = errors.New("unknown")

func (nobody) ByToken(string) (access.Grant, error) { return access.Grant{}, errUnknown }

func (nobody) ByPublicKey(string, uint64) (access.Grant, error) { return access.Grant{}, errUnknown }

// A missing key counts as unknown only after the hub has sent all keys.
func TestKeyringWaitsForTheHub(t *testing.T) {
	env := testenv.NewBroker(t)
	bucket, err := env.JetStream.KeyValue(t.Context(), migrations.KeysBucket(env.Namespace))
	if err != nil {
		t.Fatal(err)
	}
	keys := NewKeyring(nobody{}, bucket)
	_, byToken := keys.ByToken("eik_ing_x")
	_, byPublicKey := keys.ByPublicKey("x", 1)
	for _, err := range []error{byToken, byPublicKey, keys.Ready(t.Context())} {
		if errata.KindOf(err) != errata.KindLogUnavailable {
			t.Errorf("before the hub has sent its keys: %v, want log_unavailable", err)
		}
	}
	if _, err := bucket.PutString(t.Context(), "copied", "now"); err != nil {
		t.Fatal(err)
	}
	_, byToken = keys.ByToken("eik_ing_x")
	_, byPublicKey = keys.ByPublicKey("x", 1)
	for _, err := range []error{byToken, byPublicKey} {
		if !errors.Is(err, errUnknown) {
			t.Errorf("afterwards: %v, want that of the keys", err)
		}
	}
	if err := keys.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}
