// Package service is what applications and administrators ask about sign-ins:
// it brings the settings, what is known of an account, codes and mails together.
//
//	Evaluate ─▶ familiar ─▶ signin.Decide ─▶ the log       Record ─▶ the log ─▶ familiar
//	Send ─▶ challenge ─▶ smtp                              Verify, Enrol, Confirm ─▶ challenge
//	UpdateLocation and the like ─▶ signin's patches ─▶ the settings
//
// What is decided about a sign-in stands in package signin, without I/O, and
// whether a code is right in package challenge. The package must not know HTTP.
package service
