// Package browser drives the admin page in a real browser, against the whole
// service on its real engines. There is one test for each script of web/e2e; a
// script says what a person does and sees. `make test-browser` installs what they
// need: Chromium, node and the packages of web.
//
// The package must not know the page: the scripts know it.
package browser
