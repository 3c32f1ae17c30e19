// Package post sends one rendered message, over HTTP or by the mail server, and says how
// that went and whether another try makes sense.
//
// Where messages go is chosen by users of the page, so a request must not reach what only
// this machine can: the address is checked when the connection is made, when a name can no
// longer lead elsewhere, and redirects are not followed. The package must not keep a queue,
// try again by itself, log, or let a URL's path, a token or a signing key into a result.
package post
