package scrub

import "strings"

// Header is the name and value of a request header as they may be kept. The
// headers that help to understand an error and hold no secret are an
// allow-list; ok is false for all others, which are dropped and not masked.
// Addresses in them lose what [URI] takes from a URI.
func Header(name, value string) (keptName, keptValue string, ok bool) {
	return standard.Header(name, value)
}

// Header is [Header] with the additions of x.
func (x *Scrubber) Header(name, value string) (keptName, keptValue string, ok bool) {
	keptName = headerName(name)
	switch keptName {
	case "":
		return "", "", false
	case "Referer":
		return keptName, x.URI(value), true
	}
	return keptName, x.Text(value), true
}

// headerName is the canonical name of a header that is kept, "" for others.
func headerName(name string) string {
	if len(name) > maxHeaderName {
		return ""
	}
	switch strings.ToLower(name) {
	case "accept":
		return "Accept"
	case "accept-encoding":
		return "Accept-Encoding"
	case "accept-language":
		return "Accept-Language"
	case "cache-control":
		return "Cache-Control"
	case "content-encoding":
		return "Content-Encoding"
	case "content-length":
		return "Content-Length"
	case "content-type":
		return "Content-Type"
	case "host":
		return "Host"
	case "origin":
		return "Origin"
	case "range":
		return "Range"
	case "referer":
		return "Referer"
	case "sec-fetch-dest":
		return "Sec-Fetch-Dest"
	case "sec-fetch-mode":
		return "Sec-Fetch-Mode"
	case "sec-fetch-site":
		return "Sec-Fetch-Site"
	case "user-agent":
		return "User-Agent"
	case "x-correlation-id":
		return "X-Correlation-Id"
	case "x-request-id":
		return "X-Request-Id"
	case "x-requested-with":
		return "X-Requested-With"
	}
	return ""
}

// maxHeaderName is the length of the longest name in the list.
const maxHeaderName = len("x-correlation-id")
