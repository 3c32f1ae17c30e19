// Package familiar knows from which places and addresses accounts have signed
// in.
//
//	outcome ─▶ the log ─▶ Follower ─▶ Memory, a bucket ─▶ what signin.Decide compares with
//	              └── whoever appended it applies it at once ──┘
//
// The log is the truth and the bucket a projection of it: an entry counts by the
// time and the place on the log of the newest sign-in that it was seen in, so
// that outcomes may be applied in any order, by several nodes, and again after a
// crash, with one result. An empty bucket fills again from what the log still
// has; an account that is not in it is asked, as at its first sign-in.
//
// Accounts stand on the log and in the bucket by a hash of their names only.
// It keeps names out of what is copied and read, and is no secret: who has a
// list of names can hash it. Addresses stand there as they are, for as long as
// they are remembered, because they are compared.
//
// The package must not decide what is asked, which package signin does, nor put
// anything on the log.
package familiar
