// Command gate injects faults into the built service and compares every record
// with what its clients know. "make gate" runs it. It prints each fault with
// its seed, and ends with 1 when a promise of docs/reliability.md was broken.
//
//	go run ./test/gate -form short|full -seed N -only NAME,...
//
// Power cuts and full disks need root and Linux.
package main
