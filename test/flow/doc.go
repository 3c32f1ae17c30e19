// Package flow tests an error's whole way, from a socket to the list of records:
// recordings of real SDKs, a real SDK, invalid requests, and restarts. It runs
// the service in this process on its real engines and knows only its options, its
// HTTP interface and its log. What one part does with one input is tested beside
// that part.
package flow
