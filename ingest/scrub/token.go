package scrub

import "strings"

// This file knows credentials by their form.

// form is how a kind of credential looks.
type form struct {
	prefix, bytes string // bytes besides letters and digits
	min           int    // how many follow the prefix at least
	digit         bool   // one of them must be a digit, because words begin like that, too
}

var forms = [...]form{
	{"eyJ", "_-+/=.", 14, false},       // JWT and other base64 of a JSON object
	{"eik_", "_", 8, false},            // Errata's own keys
	{"AKIA", "", 12, false},            // AWS access keys
	{"ASIA", "", 12, true},             //
	{"AIza", "_-", 30, false},          // Google
	{"ghp_", "", 16, false},            // GitHub
	{"gho_", "", 16, false},            //
	{"ghu_", "", 16, false},            //
	{"ghs_", "", 16, false},            //
	{"ghr_", "", 16, false},            //
	{"github_pat_", "_", 16, false},    //
	{"glpat-", "_-", 16, false},        // GitLab
	{"xoxa-", "-", 8, true},            // Slack
	{"xoxb-", "-", 8, true},            //
	{"xoxe-", "-", 8, true},            //
	{"xoxp-", "-", 8, true},            //
	{"xoxr-", "-", 8, true},            //
	{"xoxs-", "-", 8, true},            //
	{"sk_", "_", 16, true},             // Stripe
	{"rk_", "_", 16, true},             //
	{"whsec_", "_", 16, true},          //
	{"sk-", "_-", 20, true},            // OpenAI and others
	{"SG.", "._-", 32, true},           // SendGrid
	{"AGE-SECRET-KEY-", "", 16, false}, //
}

// formsOf are the forms by their first byte, because every word is looked at.
var formsOf = func() (of [128][]form) {
	for _, f := range forms {
		of[f.prefix[0]] = append(of[f.prefix[0]], f)
	}
	return of
}()

// maxProbe bounds how far a run is read to see whether it is a credential.
const maxProbe = 128

// tokenAt is the end of the credential that begins at s[i], 0 if none does.
func tokenAt(s string, i int) int {
	rest := s[i:]
	if len(rest) < 8 {
		return 0 // shorter than all of them
	}
	of := formsOf[rest[0]&0x7f]
	for k := range of {
		f := &of[k]
		if rest[1] != f.prefix[1] || !strings.HasPrefix(rest, f.prefix) {
			continue
		}
		from := i + len(f.prefix)
		probe := run(s[:min(len(s), from+maxProbe)], from, f.bytes)
		if probe-from < f.min || f.digit && !strings.ContainsAny(s[from:probe], "0123456789") {
			continue
		}
		end := run(s, probe, f.bytes)
		for end > from+f.min && strings.IndexByte("._-", s[end-1]) >= 0 {
			end-- // the full stop behind it
		}
		return end
	}
	return 0
}

// bearer is the range of the credentials behind "Bearer" or "Basic" at s[i].
func bearer(s string, i int) (start, end int) {
	var scheme string
	if s[i]|0x20 == 'b' {
		for _, known := range [...]string{"bearer ", "basic ", "bearer%20", "basic%20", "bearer+", "basic+"} {
			if hasPrefixFold(s[i:], known) {
				scheme = known
				break
			}
		}
	}
	if scheme == "" {
		return -1, -1
	}
	start = i + len(scheme)
	for start < len(s) && s[start] == ' ' {
		start++
	}
	end = run(s, start, "._~+/=-")
	for end > start && s[end-1] == '.' {
		end--
	}
	if end-start < 6 || !looksDrawn(s[start:end]) {
		return -1, -1
	}
	return start, end
}

// looksDrawn says whether a text is drawn or coded rather than written: a
// digit, a sign that words do not have, or capitals strewn over it.
func looksDrawn(v string) bool {
	humps := 0
	for i := range len(v) {
		c := v[i]
		switch {
		case isAlpha(c) || c >= 0x80:
			if i > 0 && isUpper(c) && isAlpha(v[i-1]) && !isUpper(v[i-1]) {
				humps++
			}
		case strings.IndexByte("_-./\\:(", c) < 0:
			return true
		}
	}
	return humps*4 > len(v)
}

// dashes finds PEM blocks and the values of command line options at s[i].
func (x *Scrubber) dashes(s string, i int) (start, end int) {
	if i > 0 && s[i-1] == '-' {
		return -1, -1
	}
	const begin = "-----BEGIN"
	if strings.HasPrefix(s[i:], begin) && i+len(begin) < len(s) && strings.IndexByte(" %+", s[i+len(begin)]) >= 0 {
		return i, pemEnd(s, i)
	}
	if !strings.HasPrefix(s[i:], "--") || i > 0 && isAlnum(s[i-1]) {
		return -1, -1
	}
	key := run(s[:min(len(s), i+2+maxKey)], i+2, "-_.")
	if key == i+2 || key+1 >= len(s) || s[key] != ' ' || !x.SecretKey(s[i+2:key]) {
		return -1, -1
	}
	start = key + 1
	if s[start] == '-' {
		return -1, -1
	}
	return valueRange(s, start)
}

// pemEnd is the end of the PEM block at s[i], that of the text if it was cut.
func pemEnd(s string, i int) int {
	const mark = "-----END"
	k := strings.Index(s[i:], mark)
	if k < 0 {
		return len(s)
	}
	end := i + k + len(mark)
	if k := strings.Index(s[end:], "-----"); k >= 0 && k < 64 {
		return end + k + len("-----")
	}
	return end
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

func hasSuffixFold(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}
