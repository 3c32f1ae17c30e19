// Package acme tests certificates that a real ACME server issues: Pebble of Let's Encrypt,
// which runs on this machine and asks for proofs as Let's Encrypt does.
package acme
