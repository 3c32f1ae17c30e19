package app

import (
	"strings"
	"testing"
)

func TestScrubbingIsValidated(t *testing.T) {
	for _, c := range []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) { o.ScrubKeys = []string{"id"} }, "scrub-keys: "},
		{func(o *Options) { o.ScrubPatterns = []string{"[a"} }, "scrub-patterns: "},
		{func(o *Options) { o.ScrubQueryAllow = []string{"token"} }, "scrub-query-allow: "},
		{func(*Options) {}, ""},
	} {
		o := DefaultOptions()
		c.change(&o)
		if err := o.Validate(); (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
