// Package quota bounds how many events one key and one project may send, so that
// one that floods does not slow the others.
//
//	request ─▶ Check ─▶ body, parser ─▶ Enter ─▶ log ─▶ Charge
//	             └─ over: Settle counts it and keeps the answer back
//
// A request is taken whole or not at all, and which of both is decided before
// its body is read: while there is anything in the buckets of its key and of its
// project. What it then holds is charged, into debt if need be, and the next
// request waits until that is paid. So no batch is cut, none is too large to be
// ever taken, and on the average nobody gets more than the limit.
//
// Of one key few requests are on their way to the log at once. What a limit in
// figures does on a fast machine, these turns do on a slow one.
//
// The buckets are in the memory of the node: behind several nodes a key gets the
// limit of each. Nothing here touches the log or knows a protocol.
package quota
