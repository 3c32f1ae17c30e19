// Package access knows who may do what: API keys and the scopes they hold.
//
//	Create ─▶ text, shown once            KV bucket            every node
//	          id, SHA-256(secret), … ──▶  key.<id>  ══watch══▶ snapshot ◀── Authenticate
//	Revoke ─────────────────────────────▶ key.<id>             (lock-free)
//
// A key's text never reaches the bucket, a log or an error. Looking a key up
// reads an immutable snapshot in memory, so that it costs one hash and no I/O;
// a watch keeps the snapshot current, and when the bucket cannot be read the
// last good copy stays in force.
//
// The package must not know HTTP: the API's route table says which route needs
// which scope.
package access
