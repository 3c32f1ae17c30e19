// Package body opens the request bodies of the doors: it bounds them on the
// wire and after decompression, undoes one content coding, and keeps the memory
// of all requests in flight within a [Budget].
//
// A body is streamed. Nothing here parses what is inside, looks at a key, or
// answers a request; every error is an *errata.Error that a door can show.
package body
