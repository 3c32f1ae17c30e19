package smtp

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	gomail "github.com/wneessen/go-mail"
)

const (
	// maxAddress is the longest address that SMTP carries (RFC 5321, 4.5.3.1.3).
	maxAddress = 254
	// maxSubject and maxText are far above what a mail with a code has; a
	// longer text is a mistake of the caller.
	maxSubject = 200
	maxText    = 64 << 10
	// maxID keeps the header on one line.
	maxID     = 64
	idLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"
)

// Mail is one mail to one person.
type Mail struct {
	// To is one bare address, Subject one line.
	To, Subject string
	// Text is plain UTF-8. HTML says the same for programs that show it, "" for none;
	// what is not ours in it has to be escaped already.
	Text, HTML string
	// ID is the same for each try of the same mail, so that a mail program shows it
	// once; "" draws one. It has letters, digits and hyphens.
	ID string
}

// compose makes the mail, or says what of it cannot be sent. No part of To,
// Subject and ID may become a header of its own.
func compose(from *mail.Address, m Mail) (*gomail.Msg, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	id := m.ID
	if id == "" {
		drawn := make([]byte, 16)
		if _, err := rand.Read(drawn); err != nil {
			return nil, fmt.Errorf("draw a message id: %w", err)
		}
		id = hex.EncodeToString(drawn)
	}
	_, domain, _ := strings.Cut(from.Address, "@")
	message := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	message.FromMailAddress(from)
	if err := message.To(m.To); err != nil {
		return nil, errors.New("the recipient is not one plain mail address")
	}
	message.Subject(m.Subject)
	message.SetDate()
	message.SetMessageIDWithValue(id + "@" + domain)
	// Automatic replies and mailing lists ignore such mails (RFC 3834).
	message.SetGenHeader("Auto-Submitted", "auto-generated")
	message.SetBodyString(gomail.TypeTextPlain, m.Text)
	if m.HTML != "" {
		message.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	}
	return message, nil
}

// check says what is wrong with a mail.
func (m *Mail) check() error {
	switch {
	case !Deliverable(m.To):
		return errors.New("the recipient is not one plain mail address")
	case strings.TrimSpace(m.Subject) == "" || len(m.Subject) > maxSubject || !utf8.ValidString(m.Subject) || hasControl(m.Subject):
		return fmt.Errorf("the subject must be one line of 1 to %d bytes", maxSubject)
	case m.Text == "" || !isText(m.Text):
		return fmt.Errorf("the text must be 1 to %d bytes of UTF-8", maxText)
	case !isText(m.HTML):
		return fmt.Errorf("the HTML must be at most %d bytes of UTF-8", maxText)
	case len(m.ID) > maxID || strings.Trim(m.ID, idLetters) != "":
		return fmt.Errorf("the id must be at most %d letters, digits and hyphens", maxID)
	}
	return nil
}

func isText(text string) bool {
	return len(text) <= maxText && utf8.ValidString(text) && !strings.ContainsRune(text, 0)
}

// Deliverable says whether text is one bare address that [Sender.Send] takes:
// without a name, a comment, a list, or anything that a server could read as a
// command.
func Deliverable(text string) bool {
	if len(text) > maxAddress || !utf8.ValidString(text) || hasControl(text) || strings.ContainsAny(text, " <>()\"\\,;:") {
		return false
	}
	address, err := mail.ParseAddress(text)
	if err != nil || address.Name != "" || address.Address != text {
		return false
	}
	local, domain, found := strings.Cut(text, "@")
	return found && local != "" && domain != "" && !strings.Contains(domain, "@")
}

func hasControl(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		// Line and paragraph separators end lines for some readers.
		return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
	})
}
