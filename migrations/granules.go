package migrations

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/errata-log/errata/internal/background"
)

const (
	// recordGranules is the number of rows between two marks of records. With 64
	// instead of the 512 of file 00001, what the index of the search finds is
	// read with an eighth of the rows around it, and so are the rows of a page and
	// of a detail; ADR 14 has the figures.
	recordGranules = "64"
	// helperName is the table that stands for the lock, and begins the names of
	// the copies.
	helperName = "records_granules"
	// granuleTries bounds how often the step begins again because another node
	// came in between, which takes two that both stand still for granuleWait.
	granuleTries = 5
	// granulePause is how often one that waits looks.
	granulePause = 50 * time.Millisecond
	// recordsName is the table that all this is about.
	recordsName = "records"

	codeTableExists = 57
)

// granuleWait is how long another node may take. It takes less than a second,
// because nothing is copied. Only tests change it.
var granuleWait = 10 * time.Second

// granulesOf finds the setting in the text of an engine.
var granulesOf = regexp.MustCompile(`\bindex_granularity = (\d+)`)

// setGranules gives the table records its granules, which no ALTER can: a table
// with the same rows is put in its place. Nobody may write records meanwhile.
//
// A crash at any statement leaves the rows in records, and what else it leaves
// goes at the next call. Two calls at once are harmless, however long one of
// them stands still between two statements: each makes a copy under a name that
// is used once, then drops those of all others, and only then looks whether
// records still has to be exchanged. So of two calls the one that made its copy
// later has either stopped the other or sees what it did. The lock only keeps
// them from stopping each other.
func setGranules(ctx context.Context, conn driver.Conn) error {
	for range granuleTries {
		done, err := trySetGranules(ctx, conn)
		if done || err != nil {
			return err
		}
	}
	return fmt.Errorf("other nodes came in between %d times: start one alone", granuleTries)
}

// trySetGranules is not done when another node holds the lock, or has dropped
// the copy.
func trySetGranules(ctx context.Context, conn driver.Conn) (done bool, err error) {
	engine, done, err := recordsEngine(ctx, conn)
	if err != nil {
		return false, err
	}
	if done {
		return true, dropHelpers(ctx, conn, "")
	}
	names := map[string]string{"Lock": helperName, "Engine": engine}
	err = runStep(ctx, conn, "lock.sql", names)
	if answer := (*clickhouse.Exception)(nil); errors.As(err, &answer) && answer.Code == codeTableExists {
		return false, waitForGranules(ctx, conn)
	}
	if err != nil {
		return false, err
	}
	var unique [8]byte
	_, _ = rand.Read(unique[:]) // never fails, see crypto/rand
	names["Copy"] = helperName + "_" + hex.EncodeToString(unique[:])
	if err := runStep(ctx, conn, "create.sql", names); err != nil {
		return false, err
	}
	if err := exchangeRecords(ctx, conn, names); err != nil {
		if id, lookErr := idOf(ctx, conn, names["Copy"]); lookErr == nil && id == "" {
			return false, nil
		}
		return false, err
	}
	return true, dropHelpers(ctx, conn, "")
}

// exchangeRecords puts the copy in the place of records, unless another node
// was quicker. An error may be that another has dropped the copy.
func exchangeRecords(ctx context.Context, conn driver.Conn, names map[string]string) error {
	if err := dropHelpers(ctx, conn, names["Copy"]); err != nil {
		return err
	}
	// Asked again: one whose copy is gone by now may have been quicker.
	if _, done, err := recordsEngine(ctx, conn); err != nil || done {
		return err
	}
	if err := runStep(ctx, conn, "link.sql", names); err != nil {
		return err
	}
	return runStep(ctx, conn, "exchange.sql", names)
}

// waitForGranules returns when records has its granules, or when whoever makes
// them has taken so long that it must have crashed; then the lock is gone.
func waitForGranules(ctx context.Context, conn driver.Conn) error {
	for late := time.Now().Add(granuleWait); ; {
		if _, done, err := recordsEngine(ctx, conn); err != nil || done {
			return err
		}
		if time.Now().After(late) {
			return runStep(ctx, conn, "drop.sql", map[string]string{"Copy": helperName})
		}
		if !background.Wait(ctx, granulePause) {
			return ctx.Err()
		}
	}
}

// recordsEngine is the engine of records with its settings, as in its CREATE, and
// with the granules that it is to have; done says that it has them. ClickHouse
// writes the setting out in any case.
func recordsEngine(ctx context.Context, conn driver.Conn) (engine string, done bool, err error) {
	if err := askStep(ctx, conn, "engine.sql", &engine); err != nil {
		return "", false, fmt.Errorf("look at the table records: %w", err)
	}
	found := granulesOf.FindAllStringSubmatchIndex(engine, -1)
	if len(found) != 1 {
		return "", false, fmt.Errorf("the table records has no index_granularity, or several: %s", engine)
	}
	from, to := found[0][2], found[0][3]
	return engine[:from] + recordGranules + engine[to:], engine[from:to] == recordGranules, nil
}

// dropHelpers drops the copies but the one to be kept. With none to be kept it
// drops the lock as well, at last, so that nobody waits for what is left.
func dropHelpers(ctx context.Context, conn driver.Conn, keep string) error {
	var names []string
	if err := askStep(ctx, conn, "helpers.sql", &names, helperName); err != nil {
		return fmt.Errorf("look for copies of the table records: %w", err)
	}
	// Sorted, so the lock comes first; it is to go last.
	for _, name := range slices.Backward(names) {
		if name == keep || keep != "" && name == helperName {
			continue
		}
		if err := runStep(ctx, conn, "drop.sql", map[string]string{"Copy": name}); err != nil {
			if id, lookErr := idOf(ctx, conn, name); lookErr != nil || id != "" {
				return err
			} // another has dropped it
		}
	}
	return nil
}

// idOf is what the table is known by whatever its name, empty when there is none.
func idOf(ctx context.Context, conn driver.Conn, table string) (id string, err error) {
	if err := askStep(ctx, conn, "id.sql", &id, table); err != nil {
		return "", fmt.Errorf("look for the table %s: %w", table, err)
	}
	return id, nil
}
