// Package servicetest runs the whole service inside a test, on its real engines,
// for tests that know only its options and its HTTP interface:
//
//	s := servicetest.Start(t, data)
//	resp, body, err := servicetest.Send(s.HTTP, servicetest.NewRequest(…))
//
// Every answer through [Service.HTTP] is compared with the OpenAPI document, and
// the test fails when the service logs an error. [Run] runs programs of other
// languages that send to the service.
//
// The package must not know what a route does, and the product must not import
// it.
package servicetest
