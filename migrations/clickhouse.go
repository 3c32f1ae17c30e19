package migrations

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/pressly/goose/v3"
)

//go:embed clickhouse/*.sql
var clickHouseFiles embed.FS

// ClickHouse applies the files that were not applied to the database yet. The
// options must name the database, which must exist. After an error in the middle,
// the files before it stay applied, and the next call continues from there.
//
// After the files, the table records gets its granules, which no file can set, and
// parts of it that lack a ClickHouse projection are filled in the background. No
// projector may run on the database before it returns.
//
// ClickHouse has no locks. Two calls at once do no harm, because every file can be
// applied twice (IF NOT EXISTS, IF EXISTS), which a test checks.
func ClickHouse(ctx context.Context, options *clickhouse.Options) error {
	return applyAll(ctx, options, granuleWait)
}

// OwnClickHouse is [ClickHouse] for a server that no other node uses: it waits for nobody, and
// removes at once what a crash has left.
func OwnClickHouse(ctx context.Context, options *clickhouse.Options) error {
	return applyAll(ctx, options, 0)
}

// applyAll applies the files and what comes after them. It waits for another node that has the
// lock, as long as wait.
func applyAll(ctx context.Context, options *clickhouse.Options, wait time.Duration) (err error) {
	if options.Auth.Database == "" {
		return errors.New("migrations: the ClickHouse options name no database")
	}
	files, err := fs.Sub(clickHouseFiles, "clickhouse")
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		return fmt.Errorf("migrations: connect to ClickHouse: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	before, err := idOf(ctx, conn, recordsName)
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	err = apply(ctx, options, files)
	for range fileTries {
		after, _ := idOf(ctx, conn, recordsName)
		if err == nil || after == before && !killed(err) {
			break
		}
		// Another node has exchanged the table while a file was being applied, or has
		// applied the same file at the same time.
		before, err = after, apply(ctx, options, files)
	}
	if err != nil {
		return err
	}
	if err := afterFiles(ctx, conn, wait); err != nil {
		return fmt.Errorf("migrations: ClickHouse database %s: %w", options.Auth.Database, err)
	}
	return nil
}

// fileTries is how often a file is applied again that other nodes have disturbed.
const fileTries = 5

// killed says whether a statement waited for a mutation that another node has
// killed.
func killed(err error) bool {
	const codeUnfinished = 341
	answer, ok := errors.AsType[*clickhouse.Exception](err)
	return ok && answer.Code == codeUnfinished
}

// Schema names the tables that this program makes: two programs with the same name make the same
// ones.
func Schema() (string, error) {
	files, err := fs.Sub(clickHouseFiles, "clickhouse")
	if err != nil {
		return "", fmt.Errorf("migrations: %w", err)
	}
	known, err := readFiles(files)
	if err != nil {
		return "", fmt.Errorf("migrations: %w", err)
	}
	sum, last := sha256.New(), int64(0)
	for _, version := range slices.Sorted(maps.Keys(known)) {
		sum.Write(fmt.Appendln(nil, version, known[version].sha256))
		last = version
	}
	return fmt.Sprintf("%d-%.12x", last, sum.Sum(nil)), nil
}

func apply(ctx context.Context, options *clickhouse.Options, files fs.FS) error {
	db := clickhouse.OpenDB(options)
	defer db.Close()

	known, err := readFiles(files)
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	history := &store{files: known}
	if err := verify(ctx, db, history, options.Auth.Database); err != nil {
		return err
	}
	provider, err := goose.NewProvider("", db, files,
		goose.WithStore(history), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("migrations: read the ClickHouse migrations: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		if failed := (*goose.PartialError)(nil); errors.As(err, &failed) {
			err = fmt.Errorf("%s: %w", failed.Failed.Source.Path, failed.Err)
		}
		return fmt.Errorf("migrations: apply to the ClickHouse database %s: %w", options.Auth.Database, err)
	}
	return nil
}

// file is a migration of this program.
type file struct {
	name   string
	sha256 string // 64 hex digits
}

// readFiles finds the migrations by their number.
func readFiles(files fs.FS) (map[int64]file, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, err
	}
	known := make(map[int64]file, len(names))
	for _, name := range names {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return nil, fmt.Errorf("%s does not begin with a number: %w", name, err)
		}
		if other, ok := known[version]; ok {
			return nil, fmt.Errorf("%s and %s have the same number", other.name, name)
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(text)
		known[version] = file{name: name, sha256: hex.EncodeToString(sum[:])}
	}
	return known, nil
}

// verify compares the applied files with those of this program.
func verify(ctx context.Context, db *sql.DB, history *store, database string) error {
	there, err := history.TableExists(ctx, db)
	if err != nil {
		return fmt.Errorf("migrations: look for the table %s: %w", tableName, err)
	}
	if !there {
		return nil
	}
	applied, err := history.applied(ctx, db)
	if err != nil {
		return fmt.Errorf("migrations: read the table %s: %w", tableName, err)
	}
	for _, a := range applied {
		have, ok := history.files[a.version]
		switch {
		case !ok:
			return fmt.Errorf("migrations: %s was applied to the ClickHouse database %s and is not in this program: "+
				"the database was made by a newer version, use that one or a database of its own", a.name, database)
		case have.sha256 != a.sha256:
			return fmt.Errorf("migrations: %s has changed since it was applied to the ClickHouse database %s (SHA-256 %.12s then, %.12s now): "+
				"a released migration never changes, put the change into a new file", have.name, database, a.sha256, have.sha256)
		}
	}
	return nil
}
