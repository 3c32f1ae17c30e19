// Package settings keeps what an administrator can set while the service runs.
//
//	Update ─▶ set.<name> on the log, {"v":1,"before":{…},"after":{…}}
//	          compare-and-set: nobody's change is lost      │
//	                                                        ▼
//	Read ◀── the stream's leader            every node: Snapshot (lock-free)
//
// The newest fact of a name is in force. Its header says who asked for it, and
// its body also has the value that it replaced. [Store.ReadLogging] asks the
// log itself, so that every node shows a change as soon as it is confirmed.
// Code that asks for every event uses [Store.Snapshot], which follows the log
// within a second and stays as it is while the log is away.
//
// The package must not know what a setting does: other packages ask for it.
package settings
