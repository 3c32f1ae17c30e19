package lenient

// Scan finds the structure of JSON without reading its values: where it ends,
// how deep it is, how many values it has. What it passes is not yet valid.
type Scan struct {
	Depth, Deepest int // of brackets
	Values         int
	inString       bool
	escaped        bool
}

// Run scans text up to the end of the value that it began with, and returns
// how many bytes belong to that value. done is false when it goes on.
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
				return i, true // the end of what the value stands in
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

// string scans the inside of a string and returns how many bytes stand before
// its end.
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
