// Package cluster is what the nodes of a cluster tell each other beside the log: how far
// the records of each node are, and the secrets that all of them need.
//
//	each node, every second ─▶ "I am at fact 812" ─▶ all nodes ─▶ purges, checks
//
// The log is replicated by JetStream, and each node folds it into records of its own. So
// no node gives orders to another one. What a node says is used for one thing: nobody removes
// what that node still needs. It is not stored, and a lost message does no harm.
//
// What is stored is who has left the cluster for good: a value of a bucket, which all nodes
// follow and which is carried out until it is done.
//
// The package must not decide anything about events and records, and must not know how the
// log is replicated.
package cluster
