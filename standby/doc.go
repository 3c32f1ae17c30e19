// Package standby starts the parts of the service that need ClickHouse. When
// ClickHouse is away, it retries in the background while the service takes events.
// It also keeps the last sequence of the log: while ClickHouse is away, a start
// cannot read the checkpoint of the records.
//
// It knows neither ClickHouse nor the log. Its caller says what to do and which
// error means that ClickHouse is away.
package standby
