// Package web holds the built page for people and answers with its files.
//
//	dist/index.html   the page, asked for each time
//	dist/assets/…     what it loads; names carry a hash, so they are kept for good
//
// Everything is read and compressed once, by [New]. The package must not know
// the API, and must do no I/O beyond what is embedded.
package web
