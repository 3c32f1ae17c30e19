// Package smtptest is a mail server for tests. It takes what a real one would,
// and refuses, falls silent or hangs up where a test says so.
//
// It must not be part of the product, and forwards no mail.
package smtptest
