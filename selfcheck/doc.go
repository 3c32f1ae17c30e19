// Package selfcheck compares the log with the tables every minute:
//
//	records     number and sum of counts = the checkpoint's own totals
//	parts       every active part can be read, with ClickHouse projections and
//	            skip indexes
//	events      on the log = counted + duplicates + off + unreadable
//
// A difference raises an alarm that says what to do. As far as the log reaches,
// the package also mends the damage: it builds the damaged ClickHouse projection
// or index again, or takes the records back to before the damage so that they are
// folded again, or makes all records again beside the live tables. Meanwhile
// lists read the rows alone, without ClickHouse projections and indexes.
//
// The package must not fold events, and changes no record by itself.
package selfcheck
