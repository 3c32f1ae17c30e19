package signature

// Replacement is a piece of a message that its template replaces.
type Replacement struct {
	From string `json:"from"` // as it stands in the head line
	To   string `json:"to"`   // as it stands in the template, "" where it was left out
}

// Explain is [Template] and what it replaced, from left to right. Of a
// list that became one placeholder each element is named.
func Explain(message string) (template string, replaced []Replacement) {
	template = templateOf(message, &replaced)
	return template, replaced
}

// HeadLine is the part of a message that [Template] is made of, with its white
// space squeezed.
func HeadLine(message string) string { return headLine(message) }

// note keeps what became of a token, unless it was kept as it is. mark is where
// the output stood before it.
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
