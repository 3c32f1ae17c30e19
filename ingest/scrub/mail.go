package scrub

import "strings"

// maxMail bounds the parts of an address before and behind the @.
const maxMail = 64

// mailAddress is the range of the mail address around the @ at s[i] if it stands
// between quotes, brackets or commas: databases show the values so that they
// refused. An address in a sentence stays.
func mailAddress(s string, i int) (start, end int) {
	start = back(s, i, maxMail, func(c byte) bool { return isAlnum(c) || strings.IndexByte("._%+-", c) >= 0 })
	end = run(s[:min(len(s), i+1+maxMail)], i+1, ".-")
	if start == i || start == 0 || s[start:i] == "git" || !isMailHost(s[i+1:end]) {
		return -1, -1
	}
	before := s[start-1]
	if before == ' ' && start > 1 && s[start-2] == ',' {
		before = ','
	}
	if strings.IndexByte("\"'(<[{,=", before) < 0 || end == len(s) || strings.IndexByte("\"')>]},;\\", s[end]) < 0 {
		return -1, -1
	}
	return start, end
}

// isMailHost says whether a text is a domain. Versions (core@1.2.3-rc.x) and names of
// files (logo@2x.png) are none.
func isMailHost(host string) bool {
	dot := strings.LastIndexByte(host, '.')
	if dot < 1 || isDigit(host[0]) {
		return false
	}
	top, _, _ := strings.Cut(host[dot+1:], "-") // of "x@y.example-7", a key of two columns
	return len(top) >= 2 && !isOneOf(top, "png", "jpg", "jpeg", "gif", "svg", "webp", "js", "css", "base") &&
		back(top, len(top), len(top), isAlpha) == 0
}
