package ingest

import (
	"slices"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/signature"
)

// Explanation says what a signature was made of. The code that signs makes it, so
// that the two always agree.
type Explanation struct {
	Signature   string `json:"signature"`
	Recipe      int    `json:"recipe"`
	Application uint64 `json:"application"`

	Book    string `json:"book"`
	BookWhy string `json:"book_why"`

	Class     string `json:"class"`
	SentClass string `json:"sent_class"`
	ClassWhy  string `json:"class_why"`

	Place   ExplainedPlace   `json:"place"`
	Message ExplainedMessage `json:"message"`

	// Fingerprint is the client's own grouping, with the fields above in place of
	// {{ default }}. With a fingerprint, class, place and message are not signed
	// otherwise.
	Fingerprint []string `json:"fingerprint,omitempty"`

	// Overflow is the signature of the record that counts the event instead, when
	// it is a new problem and the limit new-records-per-hour is reached.
	Overflow string `json:"overflow"`
}

// ExplainedPlace is the place of an error, and how it was found.
type ExplainedPlace struct {
	Sent     string `json:"sent"`     // the file as the sender or the frame named it
	File     string `json:"file"`     // relative to the install roots
	Signed   string `json:"signed"`   // without the parts that each release or build changes
	Line     uint32 `json:"line"`     // not signed: a line changes with each edit of the file
	Function string `json:"function"` // of the frame that the place is from; not signed
	Why      string `json:"why"`
}

// ExplainedMessage is the text that is signed, before and after each step.
type ExplainedMessage struct {
	From     string                  `json:"from"`   // message or template
	Before   string                  `json:"before"` // scrubbed
	Head     string                  `json:"head"`   // the part of it that is signed
	Signed   string                  `json:"signed"`
	Replaced []signature.Replacement `json:"replaced"`
}

// Explain says how the draft is signed as an event of the application.
func (r *Rules) Explain(d *Draft, application uint64) (Explanation, *errata.Error) {
	read, refused := r.identify(d, application)
	if refused != nil {
		return Explanation{}, refused
	}
	id := read.identity
	x := Explanation{
		Signature: signature.Sign(id).String(), Recipe: signature.Version, Application: id.Project,
		Book: id.Book.String(), BookWhy: bookWhy(d, id.Book),
		Class: id.Class, SentClass: d.Class, ClassWhy: classWhy(d, id.Class),
		Place: ExplainedPlace{
			Sent: r.Text(d.File, MaxFile, false), File: read.file, Signed: id.Place, Line: Line(d.Line),
			Function: r.functionAt(d), Why: placeWhy(d),
		},
		Message:     ExplainedMessage{From: "message", Before: read.signing, Head: signature.HeadLine(read.signing)},
		Fingerprint: id.Fingerprint,
		Overflow:    signature.SignOverflow(id.Book, id.Project, id.Class).String(),
	}
	if read.signing != read.head {
		x.Message.From = "template"
	}
	x.Message.Signed, x.Message.Replaced = signature.Explain(read.signing)
	return x, nil
}

func bookWhy(d *Draft, book errata.Book) string {
	switch {
	case d.Book == book:
		return "the event says so"
	case book == errata.BookDatabase:
		return "its class, module or message is one of a database"
	}
	return "nothing in it is of a database"
}

func classWhy(d *Draft, class string) string {
	switch {
	case class == "":
		return "nothing was thrown"
	case isWrapper(d.Class) && class != d.Class:
		return "the class of its cause, because " + d.Class + " only wraps"
	case class != d.Class:
		return "the class up to its NUL, because the rest of an anonymous class changes"
	}
	return "the class of the thrown exception"
}

func placeWhy(d *Draft) string {
	switch {
	case d.File == "":
		return "no file is known"
	case d.PlacedBy == PlacedByInApp:
		return "the last frame with in_app"
	case d.PlacedBy == PlacedByLastFrame:
		return "the last frame, because none has in_app"
	}
	return "the event names the file"
}

// functionAt is the function of the frame at the place of the draft, "" if there is
// no such frame.
func (r *Rules) functionAt(d *Draft) string {
	chain := d.Context.Exceptions
	for i := range slices.Backward(chain) {
		frames := chain[i].Frames
		for k := len(frames) - 1; k >= 0; k-- {
			if f := &frames[k]; f.File == d.File && f.Line == d.Line {
				return r.Text(f.Function, MaxName, false)
			}
		}
	}
	return ""
}
