// Package servicetest runs the whole service inside a test, on its real
// engines, for tests that know it only by its options and its HTTP interface:
//
//	s := servicetest.Start(t, data)
//	resp, body, err := servicetest.Send(s.HTTP, servicetest.NewRequest(…))
//
// Every answer that comes through [Service.HTTP] is held against the OpenAPI
// document, and the test fails when the service logs an error. [Run] starts what
// stands outside: programs of other languages that send to the service.
//
// The package must not know what a route does, and the product must not import it.
package servicetest
