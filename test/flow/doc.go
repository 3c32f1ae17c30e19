// Package flow tests the whole way of an error, from a socket to the list of
// records: what real SDKs were recorded sending, what an unchanged SDK sends
// today, what nobody should send, and what a restart leaves. It runs the
// service in this process on its real engines and knows it only by its
// options, its HTTP interface and its log; what one part does with one input
// is tested beside that part.
package flow
