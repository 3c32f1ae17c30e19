// Package service answers what applications and administrators ask about
// sign-ins. It connects the settings, what is known of accounts, codes and
// mails.
//
//	Evaluate ─▶ familiar ─▶ signin.Decide ─▶ the log       Record ─▶ the log ─▶ familiar
//	Send ─▶ challenge ─▶ smtp                              Verify, Enrol, Confirm ─▶ challenge
//	UpdateLocation and the like ─▶ signin's patches ─▶ the settings
//
// Package signin decides what is asked, without I/O, and package challenge
// whether a code is right. This package must not know HTTP.
package service
