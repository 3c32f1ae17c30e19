package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/netip"
	"strings"
	"unicode"

	errata "github.com/errata-log/errata"
)

// LogSettings keeps what is recorded.
type LogSettings interface {
	// ReadLogging is what is in force, with every change that any node has
	// answered. Errors: log_unavailable.
	ReadLogging(ctx context.Context) (errata.Logging, error)
	// UpdateLogging sets what change makes of that and returns what is then in
	// force; change may be called more than once, and its error is returned as
	// it is. Errors: log_unavailable, log_full.
	UpdateLogging(ctx context.Context, change func(errata.Logging) (errata.Logging, error)) (errata.Logging, error)
	// Logging is what is in force as far as this node has heard. It must not
	// block.
	Logging() errata.Logging
}

// loggingBody is the body of B7. A field that was not sent is nil, one that
// was sent as null is not.
type loggingBody struct {
	ErrorLog        json.RawMessage `json:"error_log"`
	ErrorDebug      json.RawMessage `json:"error_debug"`
	Development     json.RawMessage `json:"development"`
	ModuleLog       json.RawMessage `json:"module_log"`
	QueryLogging    json.RawMessage `json:"query_logging"`
	QueryLoggingIPs json.RawMessage `json:"query_logging_ips"`
}

// maxLoggingIPs bounds query_logging_ips: each query that an application
// reports is compared with all of them.
const maxLoggingIPs = 1000

// readLogSettings is B6.
func (s *service) readLogSettings(c *call) (answer, error) {
	logging, err := s.LogSettings.ReadLogging(c.Request.Context())
	if err != nil {
		return answer{}, err
	}
	return answer{data: loggingOf(logging)}, nil
}

// updateLogSettings is B7. Everything is checked before anything is changed.
func (s *service) updateLogSettings(c *call) (answer, error) {
	var body loggingBody
	if err := c.bind(&body); err != nil {
		return answer{}, err
	}
	change, err := body.change()
	if err != nil {
		return answer{}, err
	}
	logging, err := s.LogSettings.UpdateLogging(c.Request.Context(), change)
	if err != nil {
		return answer{}, err
	}
	return answer{data: loggingOf(logging)}, nil
}

// loggingJSON is Logging in answers: an address has no length there.
type loggingJSON struct {
	errata.Logging
	QueryLoggingIPs []string `json:"query_logging_ips"`
}

func loggingOf(l errata.Logging) loggingJSON {
	ips := make([]string, 0, len(l.QueryLoggingIPs))
	for _, p := range l.QueryLoggingIPs {
		ips = append(ips, errata.PrefixText(p))
	}
	return loggingJSON{l, ips}
}

// change is what the fields that were sent make of the settings.
func (b *loggingBody) change() (func(errata.Logging) (errata.Logging, error), error) {
	type set struct {
		to func(*errata.Logging) *bool
		on bool
	}
	var sets []set
	for _, field := range []struct {
		name string
		sent json.RawMessage
		to   func(*errata.Logging) *bool
	}{
		{"error_log", b.ErrorLog, func(l *errata.Logging) *bool { return &l.ErrorLog }},
		{"error_debug", b.ErrorDebug, func(l *errata.Logging) *bool { return &l.ErrorDebug }},
		{"development", b.Development, func(l *errata.Logging) *bool { return &l.Development }},
		{"module_log", b.ModuleLog, func(l *errata.Logging) *bool { return &l.ModuleLog }},
		{"query_logging", b.QueryLogging, func(l *errata.Logging) *bool { return &l.QueryLogging }},
	} {
		if field.sent == nil {
			continue
		}
		on, err := switchIn(field.name, field.sent)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set{field.to, on})
	}
	var ips []netip.Prefix // nil: not sent
	if b.QueryLoggingIPs != nil {
		var err error
		if ips, err = rangesIn("query_logging_ips", b.QueryLoggingIPs); err != nil {
			return nil, err
		}
	}
	return func(l errata.Logging) (errata.Logging, error) {
		for _, s := range sets {
			*s.to(&l) = s.on
		}
		if ips != nil {
			l.QueryLoggingIPs = ips
		}
		return l, nil
	}, nil
}

// switchIn reads a switch: 1 or 0, true or false. Errors: invalid_boolean for
// other numbers, invalid_body for anything else.
func switchIn(field string, sent json.RawMessage) (bool, error) {
	switch string(sent) {
	case "1", "true":
		return true, nil
	case "0", "false":
		return false, nil
	}
	if sent[0] == '-' || '0' <= sent[0] && sent[0] <= '9' {
		err := errata.Errorf(errata.KindInvalidBoolean, "The field %s is 0 or 1, or false or true.", field)
		err.Details = map[string]any{"field": field, "allowed": []any{0, 1, false, true}}
		return false, err
	}
	return false, wrongType(field, sent, "0 or 1")
}

// wrongType is [mismatched] for what was sent.
func wrongType(field string, sent json.RawMessage, wanted string) error {
	found := "number"
	switch sent[0] {
	case '"':
		found = "string"
	case '{':
		found = "object"
	case '[':
		found = "array"
	case 't', 'f':
		found = "bool"
	case 'n':
		found = "null"
	}
	return mismatched(field, found, wanted)
}

// rangesIn reads addresses and prefixes: an array of strings, or one string
// with comma, blank or new line between them.
func rangesIn(field string, sent json.RawMessage) ([]netip.Prefix, error) {
	const wanted = "an array of strings, or a string,"
	var texts []string
	switch sent[0] {
	case '"':
		var text string
		if err := json.Unmarshal(sent, &text); err != nil {
			return nil, wrongType(field, sent, wanted)
		}
		texts = strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	case '[':
		var elements []json.RawMessage
		if err := json.Unmarshal(sent, &elements); err != nil {
			return nil, wrongType(field, sent, wanted)
		}
		for _, element := range elements {
			element = bytes.TrimSpace(element)
			var text string
			if element[0] != '"' || json.Unmarshal(element, &text) != nil {
				return nil, wrongType(field+"[]", element, "a string")
			}
			texts = append(texts, strings.TrimSpace(text))
		}
	default:
		return nil, wrongType(field, sent, wanted)
	}
	if len(texts) > maxLoggingIPs {
		err := errata.Errorf(errata.KindInvalidIP, "The field %s has %d entries and takes at most %d; join addresses into prefixes.", field, len(texts), maxLoggingIPs)
		err.Details = map[string]any{"field": field, "max": maxLoggingIPs}
		return nil, err
	}
	ranges := make([]netip.Prefix, 0, len(texts))
	for i, text := range texts {
		r, ok := errata.ParsePrefix(text)
		if !ok {
			err := errata.Errorf(errata.KindInvalidIP, "%q in %s is neither an address, like 203.0.113.9 or 2001:db8::1, nor a prefix, like 10.0.0.0/8.", cut(text), field)
			err.Details = map[string]any{"field": field, "index": i, "value": cut(text)}
			return nil, err
		}
		ranges = append(ranges, r)
	}
	return ranges, nil
}

// cut shortens what a caller sent so that it can stand in an answer.
func cut(text string) string {
	const most = 64 // longer than any address
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
