package access_test

import (
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/access"
)

func TestCheckWarnsOfKeysThatEnd(t *testing.T) {
	now := time.Now()
	if c := access.CheckOf(nil, now); !c.OK || c.Detail != "none ends soon" || c.Hint != "" {
		t.Errorf("no key that ends: %+v", c)
	}
	c := access.CheckOf([]access.Key{
		{ID: "0123456789ab", Name: "shop", ExpiresAt: now.Add(access.WarnBefore)}, {ID: "later", ExpiresAt: now.Add(access.WarnBefore + time.Hour)},
		{ID: "ended", ExpiresAt: now}, {ID: "revoked", ExpiresAt: now.Add(time.Hour), RevokedAt: now}, {ID: "endless"},
	}, now)
	want := `soon to end: 0123456789ab "shop" on ` + now.Add(access.WarnBefore).UTC().Format(time.DateOnly)
	if !c.OK || c.Detail != want || !strings.Contains(c.Hint, "errata keys create") {
		t.Errorf("got %+v, want %q", c, want)
	}
}
