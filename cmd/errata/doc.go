// Command errata runs the Errata service and talks to a running one.
//
// It only translates the outside world: flags, environment, files, signals and
// the terminal become [app.Options], a context and log lines; answers of the
// HTTP API become text. What the service does is in package app. The command
// stays statically linked: it must never import cgo or a loader of shared
// libraries, which is the work of errata-engine.
package main
