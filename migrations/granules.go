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
	// recordGranules is the number of rows in a granule of records. With 64 instead
	// of the 512 of file 00001, a search, a page and a detail read an eighth of the
	// rows around those that they need; docs/benchmarks.md has the figures.
	recordGranules = "64"
	// helperName is the name of the table that is the lock. The names of the copies
	// begin with it.
	helperName = "records_granules"
	// granuleTries bounds how often the step begins again because another node
	// disturbed it, which happens only when both stand still for granuleWait.
	granuleTries = 5
	// granulePause is how often a waiting node looks.
	granulePause = 50 * time.Millisecond
	// recordsName is the table that gets the granules.
	recordsName = "records"

	codeTableExists = 57
)

// recordProjections are the ClickHouse projections of records after the files. While
// another node applies a file, the table lacks some for a moment.
var recordProjections = []string{"by_group", "by_time"}

// granuleWait is how long a node waits for another one, which needs less than a
// second, because no data is copied. Only tests change it.
var granuleWait = 10 * time.Second

// granulesOf finds the setting in the definition of an engine.
var granulesOf = regexp.MustCompile(`\bindex_granularity = (\d+)`)

// setGranules gives the table records its granules, which no ALTER can: it replaces
// the table by one with the same rows. Nobody may write records meanwhile.
//
// After a crash at any statement the rows are in records, and the next call removes
// the rest. Two calls at once do no harm, however long one of them stands still
// between two statements: each makes a copy under a unique name, then drops the
// copies of all others, and only then checks whether records must still be
// exchanged. So the call that made its copy later has either stopped the other one
// or sees its result. The lock only keeps calls from stopping each other. wait is how
// long a call waits for another one that has the lock.
func setGranules(ctx context.Context, conn driver.Conn, wait time.Duration) error {
	for range granuleTries {
		done, err := trySetGranules(ctx, conn, wait)
		if done || err != nil {
			return err
		}
	}
	return fmt.Errorf("other nodes disturbed this %d times: start one node alone", granuleTries)
}

// trySetGranules tries once. done is false when another node has the lock, or has
// dropped the copy.
func trySetGranules(ctx context.Context, conn driver.Conn, wait time.Duration) (done bool, err error) {
	engine, done, err := recordsEngine(ctx, conn)
	if err != nil {
		return false, err
	}
	if done {
		return true, dropHelpers(ctx, conn, "")
	}
	if err := waitForProjections(ctx, conn); err != nil {
		return false, err
	}
	names := map[string]string{"Lock": helperName, "Engine": engine}
	err = runStep(ctx, conn, "lock.sql", names)
	if answer := (*clickhouse.Exception)(nil); errors.As(err, &answer) && answer.Code == codeTableExists {
		return false, waitForGranules(ctx, conn, wait)
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
	switch whole, err := hasProjections(ctx, conn, names["Copy"]); {
	case err != nil:
		return false, err
	case !whole: // another node has begun to apply a file meanwhile, or has dropped it
		return false, dropHelpers(ctx, conn, "")
	}
	if err := exchangeRecords(ctx, conn, names); err != nil {
		if id, lookErr := idOf(ctx, conn, names["Copy"]); lookErr == nil && id == "" {
			return false, nil
		}
		return false, err
	}
	return true, dropHelpers(ctx, conn, "")
}

// exchangeRecords replaces records by the copy, unless another node has done it. An
// error may mean that another node has dropped the copy.
func exchangeRecords(ctx context.Context, conn driver.Conn, names map[string]string) error {
	if err := dropHelpers(ctx, conn, names["Copy"]); err != nil {
		return err
	}
	// It looks again: a node whose copy was just dropped may have been faster.
	if _, done, err := recordsEngine(ctx, conn); err != nil || done {
		return err
	}
	if err := runStep(ctx, conn, "link.sql", names); err != nil {
		return err
	}
	return runStep(ctx, conn, "exchange.sql", names)
}

// waitForGranules returns when records has its granules. After the wait the node
// with the lock must have crashed; then waitForGranules drops the lock.
func waitForGranules(ctx context.Context, conn driver.Conn, wait time.Duration) error {
	for late := time.Now().Add(wait); ; {
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

// waitForProjections returns when records has its ClickHouse projections: a copy
// that is made before would be without them.
func waitForProjections(ctx context.Context, conn driver.Conn) error {
	for late := time.Now().Add(granuleWait); ; {
		switch whole, err := hasProjections(ctx, conn, recordsName); {
		case err != nil || whole:
			return err
		case time.Now().After(late):
			return fmt.Errorf("the table records does not have the projections %v", recordProjections)
		case !background.Wait(ctx, granulePause):
			return ctx.Err()
		}
	}
}

// hasProjections says whether the table has the ClickHouse projections of records.
func hasProjections(ctx context.Context, conn driver.Conn, table string) (bool, error) {
	var names []string
	if err := askStep(ctx, conn, "projections.sql", &names, table); err != nil {
		return false, fmt.Errorf("look for the projections of %s: %w", table, err)
	}
	return slices.Equal(names, recordProjections), nil
}

// recordsEngine returns the engine of records with its settings, as in its CREATE,
// but with the granules that it must have; done says that it has them already.
// ClickHouse always writes this setting out.
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

// dropHelpers drops all copies but keep. With keep "" it also drops the lock, as
// the last one: nobody needs to wait for copies that are left.
func dropHelpers(ctx context.Context, conn driver.Conn, keep string) error {
	var names []string
	if err := askStep(ctx, conn, "helpers.sql", &names, helperName); err != nil {
		return fmt.Errorf("look for copies of the table records: %w", err)
	}
	// They are sorted, so the lock comes first, and is dropped last.
	for _, name := range slices.Backward(names) {
		if name == keep || keep != "" && name == helperName {
			continue
		}
		if err := runStep(ctx, conn, "drop.sql", map[string]string{"Copy": name}); err != nil {
			if id, lookErr := idOf(ctx, conn, name); lookErr != nil || id != "" {
				return err
			} // another node has dropped it
		}
	}
	return nil
}

// idOf returns the UUID of a table, which it keeps when it is renamed; "" when
// there is no such table.
func idOf(ctx context.Context, conn driver.Conn, table string) (id string, err error) {
	if err := askStep(ctx, conn, "id.sql", &id, table); err != nil {
		return "", fmt.Errorf("look for the table %s: %w", table, err)
	}
	return id, nil
}
