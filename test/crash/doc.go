// Package crash proves the promise that counts are exact: it kills the service
// and its ClickHouse again and again, at random moments and at the most dangerous
// ones, while clients send, resend and send twice. Then it compares every record
// with what the clients know. It does the same to three services that keep one log, whose
// nodes it also freezes, empties and cuts off. It runs the real binary from outside and knows
// nothing of its inside but the names of the failpoints, and of a cluster where its nodes
// keep log and records, which must be the same.
package crash
