// Package clients drives real client libraries against a running service and
// looks at the records field by field: an error with a cause, a message and an
// error that nobody caught, each thrown in an application that sends more than
// that (a release, a request, a user). What the receivers must hold against
// clients that nobody wrote is tested beside them.
//
// Libraries of Go run in "make test". Those of other languages need node,
// chromium, python3 and packages; "make test-clients" installs what is missing
// and runs them (build tag clients). The applications are in testdata.
//
// The package must not know how the service is made inside.
package clients
