// Command errata runs the Errata service and talks to a running one.
//
// It makes [app.Options], a context and a logger of flags, environment, files and
// signals, and text of the answers of the HTTP API. The service itself is in package
// app. The command stays statically linked: it must not import cgo or a loader of
// shared libraries, which errata-engine is for.
package main
