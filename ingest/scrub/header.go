package scrub

import "strings"

// Header gives the canonical name and the scrubbed value of a request header. The
// headers that help to understand an error and hold no secret are an allow-list.
// ok is false for all others: they are dropped. Referer is scrubbed as a URI.
func (x *Scrubber) Header(name, value string) (keptName, keptValue string, ok bool) {
	keptName = HeaderName(name)
	switch keptName {
	case "":
		return "", "", false
	case "Referer":
		return keptName, x.URI(value), true
	}
	return keptName, x.Text(value), true
}

// HeaderName is the canonical name of a header that is kept, "" for others.
func HeaderName(name string) string {
	var small [maxHeaderName]byte
	if len(name) > len(small) {
		return ""
	}
	for i := range len(name) {
		small[i] = name[i]
		if isUpper(name[i]) {
			small[i] |= 0x20
		}
	}
	return keptHeaders[string(small[:len(name)])]
}

// maxHeaderName is the length of the longest name in the list.
const maxHeaderName = len("x-correlation-id")

// keptHeaders are the canonical names of the headers that are kept, by the same in
// small letters.
var keptHeaders = func() map[string]string {
	kept := map[string]string{}
	for name := range strings.FieldsSeq(`Accept Accept-Encoding Accept-Language Cache-Control Content-Encoding Content-Length
		Content-Type Host Origin Range Referer Sec-Fetch-Dest Sec-Fetch-Mode Sec-Fetch-Site User-Agent X-Correlation-Id
		X-Request-Id X-Requested-With`) {
		kept[strings.ToLower(name)] = name
	}
	return kept
}()
