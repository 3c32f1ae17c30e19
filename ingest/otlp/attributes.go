package otlp

import (
	"strings"

	errata "github.com/errata-log/errata"
)

// Attributes are the texts about an error in OpenTelemetry's attributes. Logs of
// Sentry's SDKs have them too.
type Attributes struct {
	Class, Message, Trace string // of the exception
	File                  string // of the code; its line is [LineKey]
	Method, Client, User  string
	URL, Path, Query      string // of the request
}

const (
	classKey = "exception.type"
	// MessageKey is the attribute with the message of the exception.
	MessageKey = "exception.message"
	// LineKey is the attribute with the line of code, a number.
	LineKey = "code.line.number"
)

// Field is the field for an attribute, nil for an attribute without one.
func (a *Attributes) Field(key string) *string {
	switch key {
	case classKey:
		return &a.Class
	case MessageKey:
		return &a.Message
	case "exception.stacktrace":
		return &a.Trace
	case "code.file.path":
		return &a.File
	case "http.request.method":
		return &a.Method
	case "client.address":
		return &a.Client
	case "user.id":
		return &a.User
	case "url.full":
		return &a.URL
	case "url.path":
		return &a.Path
	case "url.query":
		return &a.Query
	default:
		return nil
	}
}

// PathQuery is the path of the request with its query, "" without a path.
func (a *Attributes) PathQuery() string {
	if a.Path == "" || a.Query == "" {
		return a.Path
	}
	return a.Path + "?" + strings.TrimPrefix(a.Query, "?")
}

// SeverityError is the first severity number of level error, SeverityFatal that of
// level fatal.
const (
	SeverityError = 17
	SeverityFatal = 21
)

// severityLevels are the levels of the severity numbers, four numbers for each.
var severityLevels = [...]errata.Level{
	errata.LevelDebug, errata.LevelDebug, errata.LevelInfo, errata.LevelWarning, errata.LevelError, errata.LevelFatal,
}
