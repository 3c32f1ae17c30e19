// Package records carries the tables of one node of a cluster to another one that cannot make
// them from the log any more.
//
//	asking node ─ open ──▶ peer: links the parts of its tables at one fact, sums their files
//	            ◀─ manifest (files, sizes, SHA-256) and files, in pieces of 512 KiB ─
//	            checks every file, attaches the parts beside its tables, puts them in their place
//
// The transfer is made of requests and replies on the connection of the cluster, so that a broken
// one goes on where it stopped: what is on the disk of the asking node and has the right
// checksum is not asked for again.
//
// The package must not know what the tables say, and must not fold.
package records
