// Package challenge asks for the second step and knows whether the answer is
// right: one-time codes that are sent to somebody, and codes of an authenticator
// app (TOTP, RFC 6238).
//
//	Issue ──▶ code, sent by the caller        Enrol ──▶ secret, shown once
//	   │                                         │
//	   ▼  HMAC(server secret, code)              ▼  AES-GCM(server secret, secret)
//	challenges (KV, forgets) ◀── Verify       enrolments (KV) ◀── Confirm, VerifyApp
//
// What an answer changes is decided in pure functions ([Secret.Verify],
// [Secret.VerifyApp], [Rate.Take]); a change counts only once it is stored by
// compare-and-swap on the state that it was decided from, and the outcome is told
// after that. So a code is good once and tries are counted on all nodes together,
// however many come at the same moment.
//
// Neither bucket holds an account's name, a code or a key that works without the
// server secret, which is a file beside them and not in them. The package must
// not send anything, and must not decide who is asked for what.
package challenge
