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
)

// compose makes the mail, or says what of it cannot be sent. No part of to and
// subject may become a header of its own.
func compose(from *mail.Address, to, subject, text string) (*gomail.Msg, error) {
	switch {
	case !Deliverable(to):
		return nil, errors.New("the recipient is not one plain mail address")
	case strings.TrimSpace(subject) == "" || len(subject) > maxSubject || !utf8.ValidString(subject) || hasControl(subject):
		return nil, fmt.Errorf("the subject must be one line of 1 to %d bytes", maxSubject)
	case text == "" || len(text) > maxText || !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return nil, fmt.Errorf("the text must be 1 to %d bytes of UTF-8", maxText)
	}
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		return nil, fmt.Errorf("draw a message id: %w", err)
	}
	_, domain, _ := strings.Cut(from.Address, "@")
	message := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	message.FromMailAddress(from)
	if err := message.To(to); err != nil {
		return nil, errors.New("the recipient is not one plain mail address")
	}
	message.Subject(subject)
	message.SetDate()
	message.SetMessageIDWithValue(hex.EncodeToString(id) + "@" + domain)
	// Automatic replies and mailing lists ignore such mails (RFC 3834).
	message.SetGenHeader("Auto-Submitted", "auto-generated")
	message.SetBodyString(gomail.TypeTextPlain, text)
	return message, nil
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
