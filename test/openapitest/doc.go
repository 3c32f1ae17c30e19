// Package openapitest holds what the service says against the OpenAPI
// document, in any test that speaks to it over HTTP:
//
//	http.Client{Transport: openapitest.Transport(t, http.DefaultTransport)}
//	handler = openapitest.Handler(t, handler)
//
// Every answer has to be one that the document knows: status, headers, content
// type, body, and the code of an error. Every request below /api/v1/admin that
// was answered with success has to be one that the document allows.
//
// The package must not know what a route does, and the product must not
// import it.
package openapitest
