// Package referee keeps what the clients of a service know for certain: which
// events they sent, how each was answered, and what every record must be after
// that. It is pure: it uses no network, and its clock is passed in.
package referee
