// Package clients runs real client libraries against a running service and
// compares the records field by field: an error with a cause, a message and an
// uncaught error, each from an application that sends more (a release, a request,
// a user). What receivers do with invalid requests is tested beside them.
//
// Libraries of Go run in "make test". Those of other languages need node,
// chromium, python3 and packages; "make test-clients" installs what is missing
// and runs them (build tag clients). The applications are in testdata.
//
// Clients of the API that generators make from the OpenAPI document are built
// there too, and Schemathesis compares the running service with the document.
//
// TestEverything sends 206,000 events by six clients in three projects, kills the
// service meanwhile and changes records in between. A model says what the list, the
// overview, the trends and a replay must show.
//
// The package must not know the inside of the service.
package clients
