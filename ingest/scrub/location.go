package scrub

import "strings"

// This file finds names and passwords within URLs, DSNs and paths.

// maxUserinfo bounds the length of the user and password of a URL.
const maxUserinfo = 256

// urlPassword is the range of the user and password of the URL whose "://" is
// at s[i]. A user without a password is a secret only if it is as long as a token.
func urlPassword(s string, i int) (start, end int) {
	start = i + len("://")
	limit := min(len(s), start+maxUserinfo)
	colon, at := -1, -1
scan:
	for k := start; k < limit; k++ {
		switch c := s[k]; {
		case c <= ' ' || strings.IndexByte("\"'`<>\\", c) >= 0:
			break scan
		case c == '@':
			at = k
		case c == ':' && colon < 0 && at < 0:
			colon = k
		case c == '/' || c == '?' || c == '#':
			// A password may hold these; a port or a path without a colon does not.
			if at >= 0 || colon < 0 || isPort(s[colon+1:k]) {
				break scan
			}
		}
	}
	if at < 0 || s[start:at] == Filtered || colon < 0 && at-start < 16 && (at-start < 12 || !isMixed(s[start:at])) || at == start {
		return -1, -1
	}
	return start, at
}

func isPort(text string) bool { return len(text) <= 5 && consistsOf(text, decimal) }

// maxDSN bounds the length of the user and password of a DSN.
const maxDSN = 128

// dsnPassword is the range of "user:password" before the @ at s[i] in a DSN
// without a scheme, as that of Go's MySQL driver: user:pass@tcp(host)/db.
func dsnPassword(s string, i int) (start, end int) {
	host := s[i+1:]
	if !strings.HasPrefix(host, "tcp(") && !strings.HasPrefix(host, "unix(") && !strings.HasPrefix(host, "tcp6(") &&
		!strings.HasPrefix(host, "(") && !strings.HasPrefix(host, "localhost") && !isHostPort(host) {
		return -1, -1
	}
	start = back(s, i, maxDSN, func(c byte) bool { return c > ' ' && strings.IndexByte("\"'`<>=,;()", c) < 0 })
	colon := strings.IndexByte(s[start:i], ':')
	if colon < 1 || colon == i-start-1 || strings.HasPrefix(s[start+colon:], "://") || s[start:i] == Filtered {
		return -1, -1
	}
	return start, i
}

// isHostPort says whether a text begins with a numeric host or host:port.
func isHostPort(s string) bool {
	host := run(s, 0, ".-")
	if host == 0 || s[:host] == "sha256" || s[:host] == "sha512" { // the digest of an image
		return false
	}
	if dot := strings.IndexByte(s[:host], '.'); dot > 0 && isPort(s[:dot]) {
		return true
	}
	return host+1 < len(s) && s[host] == ':' && isDigit(s[host+1])
}

// homes are the folders that hold the home folders.
var homes = [...]string{"/home/", "/Users/", `\Users\`, `\\Users\\`, `\Documents and Settings\`}

// maxHomeName bounds the name of a home folder.
const maxHomeName = 64

// homeName is the range of the name in the path of a home folder at s[i].
func homeName(s string, i int) (start, end int) {
	if i+1 == len(s) {
		return -1, -1
	}
	switch s[i+1] {
	case 'h', 'U', '\\', 'D':
	default:
		return -1, -1
	}
	for k, home := range homes {
		if !strings.HasPrefix(s[i:], home) {
			continue
		}
		if k < 2 && i > 0 && (isAlnum(s[i-1]) || strings.IndexByte("._-~%)]}", s[i-1]) >= 0) {
			return -1, -1 // a path of a URL
		}
		start = i + len(home)
		end = start
		sep := home[len(home)-1]
		for end < len(s) && end-start < maxHomeName && s[end] != sep && s[end] != '/' && isNameByte(s[end], sep) {
			end++
		}
		ends := end == len(s) || s[end] != sep
		if end == start || k == 0 && ends {
			return -1, -1 // "/home/about" is a page more often than a folder
		}
		if ends && sep == '\\' {
			if blank := strings.IndexByte(s[start:end], ' '); blank >= 0 {
				end = start + blank
			}
		}
		return start, end
	}
	return -1, -1
}

// isNameByte says whether a byte may stand in the name of a home folder. Only names
// on Windows have blanks.
func isNameByte(c, sep byte) bool {
	return isAlnum(c) || c >= 0x80 || c == '.' || c == '_' || c == '-' || c == '@' || c == ' ' && sep == '\\'
}
