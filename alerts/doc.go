// Package alerts says who is told of which errors: rules, channels, and the decision
// which events fire which rules.
//
// The decision is a pure function of the log: the same events in the same order fire the
// same rules, however they are cut into batches. Its clock is the time at which events
// were received, which stands on the log. The package must not read a clock, the network
// or a table; `projector` feeds it and writes what it decides, and the packages below it
// send.
package alerts
