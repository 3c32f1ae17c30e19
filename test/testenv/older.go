package testenv

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// AsOlderVersion makes the records what a version of before levels rose has made of
// the same log, when the first event of every record had the level. No projector may
// run meanwhile.
func AsOlderVersion(ctx context.Context, conn driver.Conn, level string) error {
	const columns = "book, signature, id, version, count, first_seen, last_seen, file, line, message_preview, " +
		"exception_class, request_uri, request_method, user_id, ip, status, regressed, sign"
	older := fmt.Sprintf(`if(book = 'checkpoint', toString(level), '%s'), replaceOne(checkpoint, '"fold":2,', '')`, level)
	for _, statement := range []string{
		"CREATE TABLE records_older AS records",
		"INSERT INTO records_older (" + columns + ", level, checkpoint) SELECT " + columns + ", " + older + " FROM records FINAL",
		"EXCHANGE TABLES records AND records_older",
		"DROP TABLE records_older SYNC",
	} {
		if err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}
