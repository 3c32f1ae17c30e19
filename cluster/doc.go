// Package cluster is what the nodes of a cluster tell each other beside the log: how far
// the records of each node are, and the secrets that all of them need.
//
//	each node, every second ─▶ "I am at fact 812" ─▶ all nodes ─▶ purges, checks
//
// The log is replicated by JetStream, and each node folds it into records of its own. So
// nobody coordinates anything here: what is said only holds back what would take something
// away from a node that still needs it. It is not stored, and a lost word costs nothing.
//
// The package must not decide anything about events and records, and must not know how the
// log is replicated.
package cluster
