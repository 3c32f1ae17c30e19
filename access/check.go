package access

import (
	"context"
	"fmt"
	"strings"
	"time"

	errata "github.com/errata-log/errata"
)

// Check warns of keys that are about to end: an application whose key has ended
// falls silent, and nobody notices silence.
func (s *Store) Check(context.Context) errata.Check { return check(s.List(), s.now()) }

func check(keys []Key, now time.Time) errata.Check {
	c := errata.Check{Name: "keys", OK: true, Detail: "none ends soon"}
	var soon []string
	for _, key := range keys {
		if key.EndsSoon(now) {
			soon = append(soon, fmt.Sprintf("%s %q on %s", key.ID, key.Name, key.ExpiresAt.UTC().Format(time.DateOnly)))
		}
	}
	if len(soon) > 0 {
		c.Detail = "soon to end: " + strings.Join(soon, ", ")
		c.Hint = "make a new key for each (errata keys create), put it where the old one is, and revoke the old one"
	}
	return c
}
