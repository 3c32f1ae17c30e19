// Package certs has the certificates that the service shows, from files or by ACME, and
// replaces them while the service runs:
//
//	files ──(every ten seconds)──▶ parse ─▶ check ─▶ the configuration of each handshake
//	ACME  ──(once a minute)──────────────────────┘
//
// A connection that is open keeps its certificate, and the next handshake gets the new
// one. Files that cannot be used never replace a certificate that can: they are refused
// with a warning, and shown in a check and a metric.
//
// The package must not listen or serve, and never switches the verification of a
// certificate off.
package certs
