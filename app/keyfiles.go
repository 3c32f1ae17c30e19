package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/errata-log/errata/access"
)

// Files of the first start, below the data folder.
const (
	keysDir       = "keys"
	AdminKeyFile  = keysDir + "/admin.key"
	IngestKeyFile = keysDir + "/ingest.key"
	DSNFile       = keysDir + "/dsn"

	// MakeKeysFile stands there while the first keys are being made. The text
	// of a key exists only once, in its file: a key whose file a crash
	// prevented can be used by nobody, and this mark says to make it anew. An
	// operator who has lost the admin key sets the mark by hand.
	MakeKeysFile = keysDir + "/make-missing"
)

// keyStore is what the first start needs of the access store.
type keyStore interface {
	List() []access.Key
	Create(ctx context.Context, n access.NewKey) (access.Key, string, error)
	Revoke(ctx context.Context, id string) error
}

// firstKeys are the keys of the first start. They never expire: a service that
// nobody reads the log of must not lock out its only administrator after a
// year. They are replaced by revoking them.
var firstKeys = []struct {
	file string
	key  access.NewKey
}{
	{AdminKeyFile, access.NewKey{
		Name: "first admin key", Kind: access.KindAdmin, Scopes: []access.Scope{access.Everything}, NeverExpires: true}},
	{IngestKeyFile, access.NewKey{
		Name: "first ingest key", Kind: access.KindIngest, Scopes: []access.Scope{access.EventsWrite}, Project: 1, NeverExpires: true}},
}

// makeFirstKeys makes the first keys and their files when the store holds no
// key at all, and finishes that when an earlier start was cut short. first
// says whether it made any. Whoever removes the files afterwards, because they
// belong into a safer place, does not get new keys.
func makeFirstKeys(ctx context.Context, dir *dataDir, store keyStore, logger *slog.Logger) (first bool, err error) {
	if err := os.MkdirAll(dir.join(keysDir), dirMode); err != nil {
		return false, fmt.Errorf("make folder of key files: %w", err)
	}
	switch _, err := os.Stat(dir.join(MakeKeysFile)); {
	case err == nil: // finish what was begun
	case !errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("look for an unfinished first start: %w", err)
	case len(store.List()) > 0:
		return false, nil
	default:
		if err := writeFile(dir.join(MakeKeysFile), "the first keys are being made\n"); err != nil {
			return false, err
		}
	}
	for _, wanted := range firstKeys {
		if err := makeFirstKey(ctx, dir.join(wanted.file), wanted.key, store, logger); err != nil {
			return false, fmt.Errorf("make %s: %w", wanted.file, err)
		}
	}
	if err := os.Remove(dir.join(MakeKeysFile)); err != nil {
		return false, fmt.Errorf("finish the first start: %w", err)
	}
	return true, syncDir(dir.join(keysDir))
}

// makeFirstKey makes one key unless its file holds a key that works.
func makeFirstKey(ctx context.Context, path string, wanted access.NewKey, store keyStore, logger *slog.Logger) error {
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
	return writeFile(path, text+"\n")
}

// keyOfFile is the working key whose text a file holds. It does not count as
// a use of the key.
func keyOfFile(path string, store keyStore) (access.Key, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return access.Key{}, false
	}
	token, err := access.ParseToken(strings.TrimSpace(string(text)))
	if err != nil {
		return access.Key{}, false
	}
	for _, key := range store.List() {
		if key.ID == token.ID {
			return key, key.RevokedAt.IsZero()
		}
	}
	return access.Key{}, false
}

// writeDSN keeps the DSN file in step with the address that the service is
// reached at, and returns the DSN; "" when there is no first ingest key.
func writeDSN(dir *dataDir, store keyStore, publicURL string) (string, error) {
	key, ok := keyOfFile(dir.join(IngestKeyFile), store)
	if !ok {
		return "", nil
	}
	scheme, host, _ := strings.Cut(publicURL, "://")
	dsn := key.DSN(scheme, host)
	if old, err := os.ReadFile(dir.join(DSNFile)); err == nil && string(old) == dsn+"\n" {
		return dsn, nil
	}
	return dsn, writeFile(dir.join(DSNFile), dsn+"\n")
}

// writeFile writes a small secret file so that it is there whole or not at
// all, also after a power cut.
func writeFile(path, text string) error {
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, ".new-*") // 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(temp.Name()) // gone already when all went well
	_, err = temp.WriteString(text)
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return syncDir(dir)
}

// syncDir makes new names in a folder survive a power cut.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return fmt.Errorf("sync folder %s: %w", path, err)
	}
	return nil
}
