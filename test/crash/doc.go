// Package crash proves the promise that counts are exact: it kills the service
// and its ClickHouse again and again, at random moments and at the most dangerous
// ones, while clients send, resend and send twice. Then it compares every record
// with what the clients know. It runs the real binary from outside and knows
// nothing of its inside but the names of the failpoints.
package crash
