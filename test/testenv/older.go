package testenv

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// AsOlderVersion makes the projection what a version with an older fold has made of
// the same log: 0 is that of before levels rose, when the first event of every record
// had the level; 1 that of before deployments, 2 that of before occurrences, for which
// level means nothing. No projector may run meanwhile.
func AsOlderVersion(ctx context.Context, conn driver.Conn, fold int, level string) error {
	const columns = "book, signature, id, version, count, first_seen, last_seen, file, line, message_preview, " +
		"exception_class, request_uri, request_method, user_id, ip, status, regressed, sign"
	if fold == 2 {
		return asReplaced(ctx, conn, map[string]string{
			"records": "(" + columns + ", level, project, environments, releases, noise, checkpoint) SELECT " + columns + ", level, project, environments, releases, noise, " +
				`replaceRegexpOne(replaceOne(checkpoint, '"fold":3,', '"fold":2,'), '"occurred":[0-9]+,', '') FROM records FINAL`,
			"occurrences": "SELECT * FROM occurrences WHERE false",
		})
	}
	const checkpoint = `replaceRegexpOne(replaceOne(checkpoint, '"fold":3,', '%s'), '"deployed":[0-9]+,"occurred":[0-9]+,', '')`
	older := "toString(level), " + fmt.Sprintf(checkpoint, `"fold":1,`)
	if fold == 0 {
		older = fmt.Sprintf("if(book = 'checkpoint', toString(level), '%s'), ", level) + fmt.Sprintf(checkpoint, "")
	}
	const hours = "book, signature, id, hour, level, count, sequence"
	return asReplaced(ctx, conn, map[string]string{
		"records":     "(" + columns + ", level, checkpoint) SELECT " + columns + ", " + older + " FROM records FINAL",
		"hourly":      "(" + hours + ") SELECT " + hours + " FROM hourly FINAL",
		"deployments": "SELECT * FROM deployments WHERE false",
		"occurrences": "SELECT * FROM occurrences WHERE false",
	})
}

// asReplaced gives tables the rows that the statements make.
func asReplaced(ctx context.Context, conn driver.Conn, fills map[string]string) error {
	for table, fill := range fills {
		for _, statement := range []string{
			"CREATE TABLE " + table + "_older AS " + table,
			"INSERT INTO " + table + "_older " + fill,
			"EXCHANGE TABLES " + table + " AND " + table + "_older",
			"DROP TABLE " + table + "_older SYNC",
		} {
			if err := conn.Exec(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
	}
	return nil
}
