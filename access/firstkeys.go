package access

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"github.com/errata-log/errata/datadir"
)

// keyStore is what the first start needs of a [Store].
type keyStore interface {
	List() []Key
	Create(ctx context.Context, n NewKey) (Key, string, error)
	Revoke(ctx context.Context, id string) error
}

// firstKeys are the keys of the first start. They never expire: a service whose
// log nobody reads must not lock out its only administrator after a year. To
// end one, revoke it.
var firstKeys = []struct {
	file string
	key  NewKey
}{
	{datadir.AdminKeyFile, NewKey{
		Name: "first admin key", Kind: KindAdmin, Scopes: []Scope{Everything}, NeverExpires: true}},
	{datadir.IngestKeyFile, NewKey{
		Name: "first ingest key", Kind: KindIngest, Scopes: []Scope{EventsWrite}, Project: 1, NeverExpires: true}},
}

// MakeFirstKeys makes the first keys and their files when the store holds no
// key at all, and finishes what an interrupted start began. first says whether
// it made any. It makes no new keys for files that somebody moved to a safer
// place.
func MakeFirstKeys(ctx context.Context, dir *datadir.Dir, store keyStore, logger *slog.Logger) (first bool, err error) {
	if err := os.MkdirAll(dir.Join(datadir.KeysDir), 0o700); err != nil {
		return false, fmt.Errorf("make folder of key files: %w", err)
	}
	switch _, err := os.Stat(dir.Join(datadir.MakeKeysFile)); {
	case err == nil: // finish what was begun
	case !errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("look for an unfinished first start: %w", err)
	case len(store.List()) > 0:
		return false, nil
	default:
		if err := datadir.WriteFile(dir.Join(datadir.MakeKeysFile), "the first keys are being made\n"); err != nil {
			return false, err
		}
	}
	for _, wanted := range firstKeys {
		if err := makeFirstKey(ctx, dir.Join(wanted.file), wanted.key, store, logger); err != nil {
			return false, fmt.Errorf("make %s: %w", wanted.file, err)
		}
	}
	if err := os.Remove(dir.Join(datadir.MakeKeysFile)); err != nil {
		return false, fmt.Errorf("finish the first start: %w", err)
	}
	return true, datadir.Sync(dir.Join(datadir.KeysDir))
}

// makeFirstKey makes one key unless its file holds a key that works.
func makeFirstKey(ctx context.Context, path string, wanted NewKey, store keyStore, logger *slog.Logger) error {
	if _, ok := keyOfFile(path, store); ok {
		return nil
	}
	// A key of this name without a file was made before the crash. Only those
	// that were never used are ended: on a shared log another service may have
	// made its own.
	for _, key := range store.List() {
		if key.Name == wanted.Name && key.Kind == wanted.Kind && key.RevokedAt.IsZero() && key.LastUsedAt.IsZero() {
			logger.Info("ending a first key whose text was lost in a crash", "key", key.ID)
			if err := store.Revoke(ctx, key.ID); err != nil {
				return err
			}
		}
	}
	_, text, err := store.Create(ctx, wanted)
	if err != nil {
		return err
	}
	return datadir.WriteFile(path, text+"\n")
}

// keyOfFile is the working key whose text a file holds. It does not count as
// a use of the key.
func keyOfFile(path string, store keyStore) (Key, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Key{}, false
	}
	token, err := ParseToken(strings.TrimSpace(string(text)))
	if err != nil {
		return Key{}, false
	}
	for _, key := range store.List() {
		if key.ID == token.ID {
			return key, key.RevokedAt.IsZero()
		}
	}
	return Key{}, false
}

// WriteDSN writes the DSN for the URL of the service to its file, and returns
// it; "" when there is no first ingest key.
func WriteDSN(dir *datadir.Dir, store keyStore, publicURL string) (string, error) {
	key, ok := keyOfFile(dir.Join(datadir.IngestKeyFile), store)
	if !ok {
		return "", nil
	}
	scheme, host, _ := strings.Cut(publicURL, "://")
	dsn := key.DSN(scheme, host)
	if old, err := os.ReadFile(dir.Join(datadir.DSNFile)); err == nil && string(old) == dsn+"\n" {
		return dsn, nil
	}
	return dsn, datadir.WriteFile(dir.Join(datadir.DSNFile), dsn+"\n")
}
