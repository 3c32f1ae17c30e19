// Package familiar knows from which places and addresses accounts have signed
// in.
//
//	outcome ─▶ the log ─▶ Follower ─▶ Memory, a bucket ─▶ what signin.Decide compares with
//	              └── whoever appended it applies it at once ──┘
//
// The log is the truth and the bucket a projection of it: an entry has the day
// and the sequence of the newest sign-in that it was seen in, so that outcomes
// may be applied in any order, by several nodes, and again after a crash, with
// the same result. An empty bucket fills again from what the log still has; an
// account that is not in it is asked, as at its first sign-in.
//
// The log and the bucket name accounts by a hash only. It keeps names out of
// what is copied and read, and is no secret: a list of names can be hashed.
// Addresses stand there in the clear for as long as they are remembered,
// because they are compared.
//
// The package must not decide what is asked, which package signin does, and
// must not write to the log.
package familiar
