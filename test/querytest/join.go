package querytest

import (
	"cmp"

	"github.com/errata-log/errata/query"
)

// Join is a filter with the fields of both; b's win, and of the projects those of both count.
func Join(a, b query.Filter) query.Filter {
	b.Search, b.Message, b.File = cmp.Or(b.Search, a.Search), cmp.Or(b.Message, a.Message), cmp.Or(b.File, a.File)
	b.Class, b.URI, b.Method = cmp.Or(b.Class, a.Class), cmp.Or(b.URI, a.URI), cmp.Or(b.Method, a.Method)
	b.Signature, b.UserID, b.IP = cmp.Or(b.Signature, a.Signature), cmp.Or(b.UserID, a.UserID), cmp.Or(b.IP, a.IP)
	b.MinOccurrence = cmp.Or(b.MinOccurrence, a.MinOccurrence)
	b.Projects = b.Projects.And(a.Projects)
	b.EventID = cmp.Or(b.EventID, a.EventID)
	if b.Tags == nil {
		b.Tags = a.Tags
	}
	if b.Environments == nil {
		b.Environments = a.Environments
	}
	if b.Releases == nil {
		b.Releases = a.Releases
	}
	if b.Books == nil {
		b.Books = a.Books
	}
	if b.Levels == nil {
		b.Levels = a.Levels
	}
	if b.Statuses == nil {
		b.Statuses = a.Statuses
	}
	if b.From.IsZero() && b.To.IsZero() {
		b.From, b.To = a.From, a.To
	}
	b.HideNoise = a.HideNoise || b.HideNoise
	return b
}
