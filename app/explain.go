package app

import (
	"encoding/json"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/native"
	"github.com/errata-log/errata/ingest/sentry"
)

// Explain says how the service with these options would sign an event of an
// application: one JSON object as the native door takes it, or a Sentry event.
// It needs no running service. Errors are *errata.Error and say why the event
// cannot be taken.
func Explain(o Options, application uint64, document []byte) (ingest.Explanation, error) {
	parse := native.ParseEvent
	if isSentry(document) {
		parse = sentry.ParseEvent
	}
	draft, err := parse(document)
	if err != nil {
		return ingest.Explanation{}, err
	}
	rules, err := o.rules()
	if err != nil {
		return ingest.Explanation{}, err
	}
	x, refused := rules.Explain(&draft, application)
	if refused != nil {
		return ingest.Explanation{}, refused
	}
	return x, nil
}

// sentryKeys are what events of Sentry's SDKs have and native ones do not.
var sentryKeys = [...]string{"event_id", "exception", "logentry", "stacktrace", "threads", "sdk", "platform", "contexts", "breadcrumbs"}

func isSentry(document []byte) bool {
	var keys map[string]json.RawMessage
	if json.Unmarshal(document, &keys) != nil {
		return false // the door says what is wrong with it
	}
	for _, key := range sentryKeys {
		if _, has := keys[key]; has {
			return true
		}
	}
	return false
}
