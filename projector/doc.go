// Package projector folds the log into ClickHouse: one record per problem.
//
//	Reader ─▶ folder ──────────▶ batch ─▶ committer ─────────────▶ ClickHouse
//	          window: counted        deltas:   current rows, new rows,
//	          once per event id      per key   ONE insert with the checkpoint
//
// The projection is a pure function of the log: the fold reads no clock and no
// configuration, so every replay of the log makes the same records. A batch is one
// insert of one block, records and checkpoint row together. Its deduplication token
// names the checkpoint that it starts from, which makes it a compare-and-set. After
// any error the checkpoint is read again, so a lost answer, a lost race and a crash
// are one case. While the records of a full batch are inserted, the next batch is prepared
// from what they will be.
//
// The package must not accept events, and nothing else may write records.
package projector
