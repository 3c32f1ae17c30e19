package lenient

// Scan finds the end, the depth and the number of values of a JSON value, which may
// come in pieces. It does not validate the value.
type Scan struct {
	Depth, Deepest int // of brackets
	Values         int
	inString       bool
	escaped        bool
}

// Run scans the next piece of a value. n is how many bytes of text belong to the
// value. done is false if the value goes on behind text.
func (s *Scan) Run(text []byte) (n int, done bool) {
	for i := 0; i < len(text); i++ {
		if s.inString {
			i += s.string(text[i:])
			if s.inString {
				break
			}
			if s.Depth == 0 {
				return i + 1, true
			}
			continue
		}
		switch text[i] {
		case '"':
			s.inString = true
		case '{', '[':
			s.Depth++
			s.Values++
			s.Deepest = max(s.Deepest, s.Depth)
		case '}', ']':
			if s.Depth == 0 {
				return i, true // the end of the object or list around the value
			}
			if s.Depth--; s.Depth == 0 {
				return i + 1, true
			}
		case ',':
			if s.Depth == 0 {
				return i, true
			}
			s.Values++
		}
	}
	return len(text), false
}

// string scans the inside of a string and returns the index of its closing quote, the
// length of text if there is none.
func (s *Scan) string(text []byte) int {
	for i := range text {
		if s.escaped {
			s.escaped = false
			continue
		}
		switch text[i] {
		case '\\':
			s.escaped = true
		case '"':
			s.inString = false
			return i
		}
	}
	return len(text)
}
