// Package otlp is the receiver of applications that report through OpenTelemetry.
// It serves, as protobuf or JSON,
//
//	POST  /v1/logs[/]  /v1/traces[/]  /v1/metrics[/]
//	POST  /api/{project}/integration/otlp/v1/{logs,traces}[/]
//
// An error is a log record with an exception or with severity ERROR or above, and
// a span event named "exception". The receiver accepts everything else and drops
// it, so that no exporter fails; for data points the answer says so. Exporters
// resend on 503 for as long as they can, so back-pressure is 503 with
// Retry-After. A resend has the same bytes. The ids of the drafts are made of
// these bytes, so that a resend counts once.
//
// An error that comes as a span event and as a log record gets the same id from
// both and counts once, unless the configuration says otherwise.
//
// The package must not scrub, sign or store.
package otlp
