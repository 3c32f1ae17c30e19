package ingest

// keepHeaders is what of the request headers is kept, in the order they came,
// each name once.
func (r *Rules) keepHeaders(headers []Pair) []Pair {
	var kept []Pair
	for _, h := range headers {
		name, value, ok := r.Scrubber.Header(h.Key, h.Value)
		if ok && value != "" && !contains(kept, name) {
			kept = append(kept, Pair{name, value})
		}
	}
	return kept
}

func contains(pairs []Pair, key string) bool {
	for _, p := range pairs {
		if p.Key == key {
			return true
		}
	}
	return false
}
