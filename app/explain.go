package app

import (
	"fmt"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/native"
	"github.com/errata-log/errata/ingest/scrub"
	"github.com/errata-log/errata/ingest/sentry"
)

// rules are the same for what comes in, for what is imported and for what is
// explained. The error names the setting that is wrong.
func (o Options) rules() (ingest.Rules, error) {
	scrubber, err := scrub.New(scrub.Additions{Keys: o.ScrubKeys, Patterns: o.ScrubPatterns, QueryAllow: o.ScrubQueryAllow})
	if err != nil {
		return ingest.Rules{}, fmt.Errorf("scrub-%w", err)
	}
	return ingest.Rules{InstallRoots: o.InstallRoots, Scrubber: scrubber}, nil
}

// Explain says how the service with these options would sign an event of an
// application: one JSON object as the native receiver takes it, or a Sentry event.
// It needs no running service. Errors are *errata.Error and say why the event
// cannot be taken.
func Explain(o Options, application uint64, document []byte) (ingest.Explanation, error) {
	parse := native.ParseEvent
	if sentry.LooksLike(document) {
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
