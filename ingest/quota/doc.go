// Package quota bounds how many events one key and one project may send, so that
// a flood of one sender does not slow the others.
//
//	small: request ─▶ Check ─▶ body, parser ─▶ Enter ─▶ log ─▶ Charge
//	large: request ─▶ Read, Check ─▶ body ─▶ EnterLarge, Check ─▶ parser ─▶ log ─▶ Charge
//	                            └─ refused: Settle counts it and delays the answer
//
// A request is taken or refused as a whole, before its body is parsed. It is taken if
// the buckets of its key and its project are not empty. Then all its events are
// charged, even if a bucket goes into debt, and the next requests are refused until
// the debt is paid. So no request is cut, none is too large for its bucket, and on
// average no sender gets more than its limit.
//
// Only a few requests of one key, and of all keys of one project, are on their way to
// the log at once. This protects the other senders on a machine that is too slow for
// the limit of events.
//
// A project may have a limit of its own, which holds from the next request on. Its bucket
// keeps what it holds, or its debt, when the limit changes.
//
// The buckets are in the memory of the node: with several nodes a key has the limit
// of each. The package must not touch the log or know a protocol.
package quota
