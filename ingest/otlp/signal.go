package otlp

// signal is one of the three kinds of telemetry. All nest in the same way, with
// the same field numbers: resources hold scopes, and scopes hold records.
type signal struct {
	path      string
	resources string // JSON names of the three levels
	scopes    string
	records   string
	rejected  string // JSON name of the count in a partial success
}

var (
	logs    = signal{"/v1/logs", "resourceLogs", "scopeLogs", "logRecords", "rejectedLogRecords"}
	traces  = signal{"/v1/traces", "resourceSpans", "scopeSpans", "spans", "rejectedSpans"}
	metrics = signal{"/v1/metrics", "resourceMetrics", "scopeMetrics", "metrics", "rejectedDataPoints"}
)

// The field numbers of the levels above the records.
const (
	fieldResources     = 1 // of the request
	fieldResource      = 1 // of a resource's part
	fieldScopes        = 2
	fieldScope         = 1 // of a scope's part
	fieldRecords       = 2
	fieldScopeName     = 1 // of a scope
	fieldAttributes    = 1 // of a resource
	fieldSpanAttrs     = 9
	fieldSpanEvents    = 11
	fieldLogAttributes = 6
)
