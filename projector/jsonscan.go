package projector

import "bytes"

// jsonScan reads a JSON text forwards, value by value. What it passes over it does not check: it
// is for texts that this service has written itself, of which it needs a few members.
type jsonScan struct{ rest []byte }

// members calls member with the key of each member of an object, which must read the value. It
// returns false if there is no object, if a key has escapes, or if member returns false.
func (s *jsonScan) members(member func(key []byte) bool) bool {
	if !s.take('{') {
		return false
	}
	if s.take('}') {
		return true
	}
	for {
		key, plain := s.text()
		if !plain || !s.take(':') || !member(key[1:len(key)-1]) {
			return false
		}
		if !s.take(',') {
			return s.take('}')
		}
	}
}

// elements calls element at each element of a list, which must read it.
func (s *jsonScan) elements(element func() bool) bool {
	if !s.take('[') {
		return false
	}
	if s.take(']') {
		return true
	}
	for element() {
		if !s.take(',') {
			return s.take(']')
		}
	}
	return false
}

// ended says whether only blanks are left.
func (s *jsonScan) ended() bool {
	s.blanks()
	return len(s.rest) == 0
}

func (s *jsonScan) blanks() {
	for len(s.rest) > 0 && (s.rest[0] == ' ' || s.rest[0] == '\n' || s.rest[0] == '\r' || s.rest[0] == '\t') {
		s.rest = s.rest[1:]
	}
}

// take passes over a character behind blanks, if it is there.
func (s *jsonScan) take(c byte) bool {
	s.blanks()
	if len(s.rest) == 0 || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// text returns a text with its quotes, nil if there is none. plain says that it has no escapes.
func (s *jsonScan) text() (text []byte, plain bool) {
	s.blanks()
	if len(s.rest) == 0 || s.rest[0] != '"' {
		return nil, false
	}
	end := textEnd(s.rest, 1)
	if end < 0 {
		return nil, false
	}
	text, s.rest = s.rest[:end], s.rest[end:]
	return text, bytes.IndexByte(text, '\\') < 0
}

// pass passes over a value.
func (s *jsonScan) pass() bool {
	s.blanks()
	depth := 0
	for i := 0; i < len(s.rest); i++ {
		switch s.rest[i] {
		case '"':
			if i = textEnd(s.rest, i+1) - 1; i < 0 {
				return false
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case ',':
		default:
			continue
		}
		switch {
		case depth > 0:
		case depth == 0 && s.rest[i] != ',': // the end of a text, an object or a list
			s.rest = s.rest[i+1:]
			return true
		default: // what follows a number or a constant
			s.rest = s.rest[i:]
			return i > 0
		}
	}
	return false
}

// textEnd is the index behind the quote that ends a text, -1 if there is none. i is the index behind
// the first quote.
func textEnd(json []byte, i int) int {
	for begin := i; ; i++ {
		n := bytes.IndexByte(json[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		escapes := 0
		for i-escapes > begin && json[i-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
}
