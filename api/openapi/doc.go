// Package openapi holds the OpenAPI document of all routes and the page that
// shows it.
//
//	spec/*.yaml ─▶ join ─▶ JSON ─▶ GET /api/v1/openapi.json ─▶ explorer/ in the browser
//
// The document is written by hand, before the code that it describes: what it
// says is what callers may rely on. Package openapitest and the tests of
// package api hold the two together.
//
// The package must not know the routes or their handlers: a document that is
// made from the code agrees with every mistake in it.
package openapi
