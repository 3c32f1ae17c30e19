// Package browser drives the admin page in a real browser, against the whole
// service on its real engines: one test for each script of web/e2e, which say
// what a person does and sees. `make test-browser` brings what they need:
// Chromium, node and the packages of web.
//
// The package must not know the page: what is clicked and expected stands in
// the scripts.
package browser
