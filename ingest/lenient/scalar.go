package lenient

import "strings"

// scalar passes a number or a word that begins with c.
func (r *Reader) scalar(c byte) error {
	switch c {
	case 't':
		return r.word("true")
	case 'f':
		return r.word("false")
	case 'n':
		return r.word("null")
	default:
		return r.number()
	}
}

func (r *Reader) word(w string) error {
	if rest := r.doc[r.at:]; len(rest) < len(w) || string(rest[:len(w)]) != w {
		return r.broken()
	}
	r.at += len(w)
	return nil
}

// number passes -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?.
func (r *Reader) number() error {
	if r.is('-') {
		r.at++
	}
	if r.is('0') {
		r.at++
	} else if !r.digits() {
		return r.broken()
	}
	if r.is('.') {
		if r.at++; !r.digits() {
			return r.broken()
		}
	}
	if r.is('e') || r.is('E') {
		if r.at++; r.is('+') || r.is('-') {
			r.at++
		}
		if !r.digits() {
			return r.broken()
		}
	}
	if r.at < len(r.doc) && strings.IndexByte(" \n\t\r,]}", r.doc[r.at]) < 0 {
		return r.broken() // as in 01 and 1x
	}
	return nil
}

// digits passes digits and says whether there was at least one.
func (r *Reader) digits() bool {
	begin := r.at
	for r.at < len(r.doc) && isDigit(r.doc[r.at]) {
		r.at++
	}
	return r.at > begin
}
