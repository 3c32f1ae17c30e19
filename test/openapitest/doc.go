// Package openapitest compares the service's answers with the OpenAPI document,
// in any test that uses HTTP:
//
//	http.Client{Transport: openapitest.Transport(t, http.DefaultTransport)}
//	handler = openapitest.Handler(t, handler)
//
// The document must allow every answer: status, headers, content type, body, and
// the code of an error. It must allow every request below /api/v1/admin and
// /api/v1/sign-in that was answered with success.
//
// The package must not know what a route does, and the product must not import
// it.
package openapitest
