package app

import (
	"fmt"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/scrub"
)

// rules are the same for what comes in, for what is imported and for what is
// explained. The error names the setting that is wrong.
func (o Options) rules() (ingest.Rules, error) {
	var add scrub.Additions
	var scrubber *scrub.Scrubber
	for _, s := range []struct {
		name  string
		given []string
		to    *[]string
	}{
		{"scrub-keys", o.ScrubKeys, &add.Keys},
		{"scrub-patterns", o.ScrubPatterns, &add.Patterns},
		{"scrub-query-allow", o.ScrubQueryAllow, &add.QueryAllow},
	} {
		*s.to = s.given
		var err error
		if scrubber, err = scrub.New(add); err != nil {
			return ingest.Rules{}, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return ingest.Rules{InstallRoots: o.InstallRoots, Scrubber: scrubber}, nil
}
