package scrub

import "strings"

// maxMail bounds the parts of an address before and behind the @.
const maxMail = 64

// mailAddress is the range of the mail address around the @ at s[i] where it
// stands as a value: between quotes, brackets or commas, as databases show what
// they refused. In a sentence it stays.
func mailAddress(s string, i int) (start, end int) {
	start = i
	for start > 0 && i-start < maxMail && (isAlnum(s[start-1]) || strings.IndexByte("._%+-", s[start-1]) >= 0) {
		start--
	}
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

// isMailHost says whether a text is a domain, and not a version (core@1.2.3-rc.x)
// or the name of a file (logo@2x.png).
func isMailHost(host string) bool {
	dot := strings.LastIndexByte(host, '.')
	if dot < 1 || isDigit(host[0]) {
		return false
	}
	top, _, _ := strings.Cut(host[dot+1:], "-") // of "x@y.example-7", a key of two columns
	if len(top) < 2 || isOneOf(top, "png", "jpg", "jpeg", "gif", "svg", "webp", "js", "css", "base") {
		return false
	}
	for k := range len(top) {
		if !isAlpha(top[k]) {
			return false
		}
	}
	return true
}
