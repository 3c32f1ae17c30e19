package scrub

import "strings"

// This file finds secrets in XML and HTML, and pairs of a name and a value:
// <add key="password" value="x"/>, {"name": "password", "value": "x"}.

// maxTag bounds the length of a start tag.
const maxTag = 256

// element is the range of the secret value behind the > at s[i], which ends the start
// tag of an XML element or an arrow: password -> x.
func (sc *scan) element(i int) (start, end int) {
	s := sc.s
	if i > 1 && s[i-1] == '-' && s[i-2] == ' ' && i+1 < len(s) && s[i+1] == ' ' {
		key, quoted := keyBefore(s, i-1)
		return sc.x.valueBehind(s, i, i+1, key, quoted)
	}
	return sc.elementText(i, i+1, "<")
}

// elementText is the range of the text of an element with a secret name. Its start
// tag ends at s[close], its text begins at s[from]. lt is < or an escape of it.
func (sc *scan) elementText(close, from int, lt string) (start, end int) {
	s := sc.s
	name, ok := tagName(s, close, lt)
	if !ok {
		return -1, -1
	}
	isPair := lt == "<" && isOneOf(name, "key", "name")
	if !isPair && !sc.x.SecretKey(name) {
		return -1, -1
	}
	k := strings.Index(s[from:], lt)
	if k < 0 {
		return -1, -1
	}
	start, end = from, from+k
	if isPair {
		sc.sibling(start, end)
		return -1, -1
	}
	const open, shut = "![CDATA[", "]]"
	if rest := s[end+len(lt):]; strings.TrimSpace(s[start:end]) == "" && strings.HasPrefix(rest, open) {
		start = end + len(lt) + len(open)
		end = len(s)
		from = start
		if strings.HasPrefix(s[from:], Filtered) {
			from += len(Filtered)
		}
		if k := strings.Index(s[from:], shut); k >= 0 {
			end = from + k
		}
	} else if !strings.HasPrefix(rest, "/") {
		return -1, -1
	}
	if text := strings.TrimSpace(s[start:end]); text == "" || isNone(text) {
		return -1, -1
	}
	return start, end
}

// sibling remembers the text of the next element if s[start:end], the text of this
// one, is a secret key: <key>password</key><string>x</string>.
func (sc *scan) sibling(start, end int) {
	s := sc.s
	if end-start > maxKey || !sc.x.SecretKey(s[start:end]) {
		return
	}
	limit := min(len(s), end+maxPairGap)
	closed := strings.IndexByte(s[end:limit], '>')
	if closed < 0 {
		return
	}
	k := end + closed + 1
	for k < limit {
		for k < len(s) && s[k] <= ' ' {
			k++
		}
		if k == len(s) || s[k] != '<' {
			break
		}
		tag := strings.IndexByte(s[k:], '>')
		if tag < 0 || s[k+1] == '/' {
			return
		}
		k += tag + 1
	}
	if text := strings.IndexByte(s[min(k, len(s)):], '<'); text > 0 && k > end+closed+1 {
		sc.later(k, k+text)
	}
}

// tagName is the name of the element whose start tag ends before s[close]. lt is < or
// an escape of it.
func tagName(s string, close int, lt string) (name string, ok bool) {
	if len(lt) > 1 {
		tag := s[max(0, close-maxTag):close]
		k := strings.LastIndex(tag, lt)
		if k < 0 {
			return "", false
		}
		name = tag[k+len(lt):]
		if strings.Contains(name, `\u`) {
			name = unicodeKey(name, len(name), len(name))
		}
		name, _, _ = strings.Cut(name, " ")
		return name, name != ""
	}
	start := back(s, close, maxKey, isNameOfElement)
	if start < close && strings.HasSuffix(s[:start], lt) {
		return s[start:close], true
	}
	if close == 0 || strings.IndexByte("\"' ", s[close-1]) < 0 {
		return "", false // without an attribute there would be a name
	}
	tag := s[max(0, close-maxTag):close]
	k := strings.LastIndex(tag, lt)
	if k < 0 {
		return "", false
	}
	tag = tag[k+len(lt):]
	end := 0
	for end < len(tag) && isNameOfElement(tag[end]) {
		end++
	}
	return tag[:end], end > 0 && end < len(tag) && (tag[end] == ' ' || tag[end] == '\n' || tag[end] == '\t')
}

func isNameOfElement(c byte) bool {
	return isAlnum(c) || c >= 0x80 || strings.IndexByte("_-.:", c) >= 0
}

// maxPairGap bounds the text between the name and the value of a pair.
const maxPairGap = 160

// pair remembers the value of a pair of name and value. The operator behind the key
// ends at s[from]. The name of the pair, which follows, must be a secret key.
func (sc *scan) pair(key string, from int) {
	s := sc.s
	if len(key) > len("header") || !isOneOf(key, "name", "key", "field", "header", "id", "k") {
		return
	}
	start, end := valueRange(s, skipBlanks(s, from))
	if end <= start || end-start > maxKey || !sc.x.SecretKey(s[start:end]) {
		return
	}
	gap := s[end:min(len(s), end+maxPairGap)]
	if k := strings.Index(gap, "\r\n\r\n"); k >= 0 && k <= 2 { // a part of a form
		k += end + len("\r\n\r\n")
		sc.later(k, k+strings.IndexAny(s[k:]+"\n", "\r\n"))
		return
	}
	for k := range len(gap) {
		switch c := gap[k]; {
		case c == '}' || c == '<' && !strings.HasPrefix(gap[k:], "<v"):
			return
		case c == '>' && k <= len(`" >`):
			text := end + k + 1
			if close := strings.IndexByte(s[text:], '<'); close > 0 && strings.TrimSpace(s[text:text+close]) != "" {
				sc.later(text, text+close)
				return
			}
		case c|0x20 == 'v' && hasPrefixFold(gap[k:], "val") || c|0x20 == 'c' && hasPrefixFold(gap[k:], "content"):
			sc.pairValue(end + k)
			return
		}
	}
}

// pairValue remembers the value behind the key "value" at s[i]: a text in quotes, a
// word, or the text of an element.
func (sc *scan) pairValue(i int) {
	s := sc.s
	k := run(s, i, "")
	if k < len(s) && s[k] == '>' {
		if end := strings.IndexByte(s[k:], '<'); end > 0 {
			sc.later(k+1, k+end)
		}
		return
	}
	k += quoteAt(s, k)
	if k = skipBlanks(s, k); k == len(s) || s[k] != '=' && s[k] != ':' {
		return
	}
	start, end := valueRange(s, skipBlanks(s, k+1))
	sc.later(start, end)
}

// isCall says whether the bracket at s[i] is that of a call, except those that give
// a name a value.
func isCall(s string, i int) bool {
	start := back(s, i, maxKeyword, func(c byte) bool { return isAlnum(c) || c == '_' })
	return start < i && !isOneOf(s[start:i], "define", "setenv", "set", "setItem", "setHeader", "addHeader", "setRequestHeader", "setProperty", "putString", "append")
}

// tuple is the range of the second text of ("password", "x"), whose comma is at s[i].
// The first text must be a secret key, the brackets must hold no third, and no name
// of a function may stand before them.
func (x *Scrubber) tuple(s string, i int) (start, end int) {
	if i < 4 || strings.IndexByte("\"'", s[i-1]) < 0 {
		return -1, -1
	}
	key, _ := keyBefore(s, i)
	open := i - len(`""`) - len(key)
	if key == "" || open < 1 || strings.IndexByte("[(", s[open-1]) < 0 || isCall(s, open-1) || !x.SecretKey(key) {
		return -1, -1
	}
	k := skipBlanks(s, i+1)
	if quoteAt(s, k) == 0 {
		return -1, -1
	}
	start, end = valueRange(s, k)
	if k = end + 1; end <= start || k >= len(s) || strings.IndexByte("])", s[k]) < 0 {
		return -1, -1
	}
	return start, end
}
