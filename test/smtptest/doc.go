// Package smtptest is a mail server for tests: one that takes what a real one
// would, and one that refuses, falls silent or hangs up where a test says so.
//
// It must not be part of the product, and sends nothing on.
package smtptest
