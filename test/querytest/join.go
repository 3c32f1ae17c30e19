package querytest

import "github.com/errata-log/errata/query"

// Join is a filter with the fields of both; b's win.
func Join(a, b query.Filter) query.Filter {
	if b.Search == "" {
		b.Search = a.Search
	}
	for _, text := range []struct{ to, from *string }{{&b.Message, &a.Message}, {&b.File, &a.File}, {&b.Class, &a.Class}, {&b.URI, &a.URI}, {&b.Method, &a.Method}} {
		if *text.to == "" {
			*text.to = *text.from
		}
	}
	if b.Signature == nil {
		b.Signature = a.Signature
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
	if b.UserID == nil {
		b.UserID = a.UserID
	}
	if !b.IP.IsValid() {
		b.IP = a.IP
	}
	if b.MinOccurrence == 0 {
		b.MinOccurrence = a.MinOccurrence
	}
	if b.From.IsZero() && b.To.IsZero() {
		b.From, b.To = a.From, a.To
	}
	if !b.HideNoise {
		b.HideNoise, b.Noise = a.HideNoise, a.Noise
	}
	return b
}
