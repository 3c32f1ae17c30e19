// Package otlp is the receiver of applications that report through OpenTelemetry.
// It serves, as protobuf or JSON,
//
//	POST  /v1/logs[/]  /v1/traces[/]  /v1/metrics[/]
//	POST  /api/{project}/integration/otlp/v1/{logs,traces}[/]
//
// An error is a log record that carries an exception or has severity ERROR or
// above, and a span event named "exception". Everything else is taken and not
// kept, data points with a word about it, so that no exporter complains about
// a missing path. Exporters resend on 503 for as long as they can, so
// back-pressure is always 503 with Retry-After; the bytes of a resend are the
// same, so the ids of the drafts are made of them and a resend counts once.
//
// An error that comes both as a span event and as a log record gets the same id
// from both, so that it counts once, unless the configuration says otherwise.
//
// The package must not scrub, sign or store.
package otlp
