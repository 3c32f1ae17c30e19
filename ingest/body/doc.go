// Package body opens the request bodies of the doors: it bounds them on the
// wire and after decompression, undoes one content coding, keeps the memory of
// all requests in flight within a [Budget], and says from which address a
// request came.
//
// A body is streamed. Nothing here parses what is inside, knows a key, or
// answers a request; every error is an *errata.Error that a door can show.
package body
