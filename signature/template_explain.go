package signature

// Replacement is a piece of a message that its template replaces.
type Replacement struct {
	From string `json:"from"` // as it stands in the head line
	To   string `json:"to"`   // as it stands in the template, "" when it was left out
}

// Explain is [Template] and what it replaced, from left to right. It names each
// element of a list that became one placeholder.
func Explain(message string) (template string, replaced []Replacement) {
	template = templateOf(message, &replaced)
	return template, replaced
}

// note remembers the replacement of a token. mark is the length of the output
// before the token.
func (t *templater) note(token string, mark int) {
	if token == " " {
		return
	}
	to := t.emitted
	if t.low >= mark {
		to = string(t.out[mark:])
	}
	if to != token {
		*t.trace = append(*t.trace, Replacement{From: token, To: to})
	}
}
