// Package signin decides what is asked at sign-in beyond the password.
//
//	settings of admins and clients ─┐
//	what is installed ──────────────┼─▶ Decide ─▶ checks, reminder, warnings
//	what is known of this sign-in ──┘
//
// There are three checks: a second step, one for sign-ins from an unfamiliar
// place, one for those from an unfamiliar address. Each has settings for admins
// and for clients; a change of one side never changes the other. A change comes
// as a patch, and Apply makes the new setting of it or says what is wrong with
// it.
//
// The package is pure: it must not read a clock, a file, the log or the
// network, and must not know where settings and sign-ins are kept.
package signin
