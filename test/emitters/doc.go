// Package emitters runs the single-file emitters of deploy/emitters in their
// interpreters, against a running service. Its tests need php-cli, node and
// chromium; "make test-clients" installs what is missing and runs them, "make
// test" does not.
//
// The package must not test the service.
package emitters
