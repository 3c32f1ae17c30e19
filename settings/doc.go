// Package settings keeps what an administrator can set while the service runs.
//
//	Update ─▶ set.<name> on the log, {"v":1,"before":{…},"after":{…}}
//	          compare-and-set: nobody's change is lost      │
//	                                                        ▼
//	Read ◀── the stream's leader            every node: Snapshot (lock-free)
//
// A setting is a fact like any other: the newest one of its name is in force,
// who asked for it stands in its header, and what it replaced stands in it.
// [Store.ReadLogging] asks the log itself, so that every node shows a change
// the moment it was answered; whoever asks for every event looks at
// [Store.Snapshot], which follows the log within a second and stays as it is
// while the log is away.
//
// The package must not know what a setting changes: others ask it.
package settings
