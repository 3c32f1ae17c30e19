package smtp

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/textproto"
	"strings"
	"unicode"
	"unicode/utf8"

	gomail "github.com/wneessen/go-mail"
)

// maxReply is how much of a server's reply goes into an error.
const maxReply = 300

// Error says why a mail was not accepted.
type Error struct {
	// Server is the mail server, host:port.
	Server string
	// Retriable says that the same mail may be accepted later: the server was
	// not reached, closed the connection, or asked to wait. When it closed the
	// connection at the very end, it may have accepted the mail.
	Retriable bool
	// Code is the server's last reply, such as 550; 0 when it gave none.
	Code int
	// reason is free of the password, the recipient and control characters.
	reason string
	// cause is context.Canceled, context.DeadlineExceeded or nil. Errors of the
	// connection are dropped: their text may have what the server repeated.
	cause error
}

// Error names the server and the reason.
func (e *Error) Error() string { return "send mail by " + e.Server + ": " + e.reason }

// Unwrap is why the context ended, nil for other reasons.
func (e *Error) Unwrap() error { return e.cause }

// failure makes an Error of an error of the connection or the server. ended is
// why the context ended, nil when it has not.
func (s *Sender) failure(err, ended error, to string) *Error {
	e := &Error{Server: s.Server(), reason: s.scrub(err.Error(), to)}
	var reply *textproto.Error
	var sending *gomail.SendError
	switch {
	case errors.As(err, &reply):
		e.Code = reply.Code
	case errors.As(err, &sending):
		e.Code = sending.ErrorCode()
	}
	switch {
	case errors.Is(err, errNotLoopback):
	case e.Code >= 400:
		e.Retriable = e.Code < 500
	case errors.Is(ended, context.Canceled):
		e.Retriable, e.cause, e.reason = true, context.Canceled, "the caller gave up"
	case ended != nil:
		e.Retriable, e.cause, e.reason = true, context.DeadlineExceeded, "no answer within "+s.cfg.Timeout.String()
	default:
		// A SendError without a code means that the connection broke.
		e.Retriable = sending != nil || broken(err)
	}
	return e
}

// broken says whether the network caused the error and not the settings, such
// as a wrong certificate or a name that does not exist.
func broken(err error) bool {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return !dns.IsNotFound
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		// TLS alerts of the server come as an OpError too; another try does not help.
		return op.Op != "remote error" && op.Op != "local error"
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// scrub removes what must not be logged, and makes the rest one short line.
func (s *Sender) scrub(text, to string) string {
	secrets := []string{to}
	if s.cfg.Password != "" {
		encode := base64.StdEncoding.EncodeToString
		secrets = append(secrets,
			encode([]byte("\x00"+s.cfg.Username+"\x00"+s.cfg.Password)), encode([]byte(s.cfg.Password)), s.cfg.Password)
	}
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, text)
	if len(text) > maxReply {
		text = strings.ToValidUTF8(text[:maxReply], "") + "…"
	}
	return text
}
