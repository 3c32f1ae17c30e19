// Package selfcheck knows what must always hold between the log and the tables,
// and asks it every minute:
//
//	records     number and sum of counts = the checkpoint's own totals
//	parts       every active part can be read, with projections and skip indexes
//	events      on the log = counted + duplicates + off + unreadable
//
// What does not hold raises an alarm with the sentence that says what to do, and
// is mended without a hand where the log reaches: the damaged projection or
// index is built again, or the records are taken back to before the damage and
// folded again, or all of them are made again beside the live tables. Meanwhile
// lists are read from the rows alone.
//
// The package must not fold events, and changes no record by itself.
package selfcheck
