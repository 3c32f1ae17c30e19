// Package challenge makes and checks the codes of the second step: one-time
// codes that are sent to somebody, and codes of an authenticator app (TOTP, RFC
// 6238).
//
//	Issue ──▶ code, sent by the caller        Enrol ──▶ secret, shown once
//	   │                                         │
//	   ▼  HMAC(server secret, code)              ▼  AES-GCM(server secret, secret)
//	challenges (KV, forgets) ◀── Verify       enrolments (KV) ◀── Confirm, VerifyApp
//
// Pure functions decide what an answer changes ([Secret.Verify],
// [Secret.VerifyApp], [Rate.Take]). The new state is stored by compare-and-swap
// on the state that it was decided from, and only then the outcome is told. So
// a code is good once, and tries are counted over all nodes, however many come
// at the same moment.
//
// Neither bucket holds an account's name, a code or a key that works without the
// server secret, which is a file beside them and not in them. The package must
// not send anything, and must not decide who is asked for what.
package challenge
