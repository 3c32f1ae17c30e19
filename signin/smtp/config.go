package smtp

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"net/mail"
	"net/netip"
	"strings"
	"time"
)

// TLS is how a connection to the mail server is protected.
type TLS string

// The modes. None of them falls back to clear text by itself: an attacker on
// the way could force that.
const (
	// StartTLS begins in clear text and sends nothing more before STARTTLS.
	StartTLS TLS = "starttls"
	// ImplicitTLS begins with TLS.
	ImplicitTLS TLS = "tls"
	// NoTLS is clear text, for a server on the same machine.
	NoTLS TLS = "none"
)

// defaultTimeout is longer than a server needs to look up its caller, and
// shorter than a person waits for a page.
const defaultTimeout = 15 * time.Second

// Config is what a [Sender] needs.
type Config struct {
	// Host is the name or the address of the mail server. Required.
	Host string
	// Port is 0 for the one that belongs to TLS: 587, 465 or 25.
	Port int
	// TLS is empty for StartTLS.
	TLS TLS
	// Username and Password log in to the server; both or neither.
	Username, Password string
	// From is the sender, "errata@example.com" or "Errata <errata@example.com>".
	// Required.
	From string
	// Timeout bounds one mail from dialling to the server's last answer, 0 for 15 s.
	Timeout time.Duration
	// AllowClearText lets NoTLS leave the machine: mails, and with them the codes,
	// can then be read on the way.
	AllowClearText bool
	// RootCAs are trusted for the server's certificate, nil for the system's.
	RootCAs *x509.CertPool
}

// FieldError says what is wrong with a field of [Config].
type FieldError struct {
	// Field is its name, Problem the rest of the sentence.
	Field, Problem string
}

// Error is the whole sentence.
func (e *FieldError) Error() string { return "smtp: " + e.Field + " " + e.Problem }

func wrong(field, format string, args ...any) *FieldError {
	return &FieldError{field, fmt.Sprintf(format, args...)}
}

// Validate names the first field that is wrong and says what it should be.
// Errors are *[FieldError].
func (c Config) Validate() error {
	c = c.withDefaults()
	switch {
	case c.Host == "":
		return wrong("Host", "is missing: the name of the mail server")
	case strings.ContainsAny(c.Host, "/:@ \t\r\n") && !isAddress(c.Host):
		return wrong("Host", "%q must be a name or an address, without a port", c.Host)
	case c.Port < 1 || c.Port > 65535:
		return wrong("Port", "is %d and must be between 1 and 65535, or 0 for the usual one", c.Port)
	case c.TLS != StartTLS && c.TLS != ImplicitTLS && c.TLS != NoTLS:
		return wrong("TLS", "%q must be %s, %s or %s", c.TLS, StartTLS, ImplicitTLS, NoTLS)
	case c.TLS == NoTLS && !c.AllowClearText && !isLoopbackName(c.Host):
		return wrong("TLS", "is %q and Host %q is not this machine: use %s, or allow clear text", NoTLS, c.Host, StartTLS)
	case c.Username == "" && c.Password != "":
		return wrong("Username", "is missing, and there is a Password")
	case c.Username != "" && c.Password == "":
		return wrong("Password", "is missing, and there is a Username")
	case hasControl(c.Username):
		return wrong("Username", "must not have control characters")
	case hasControl(c.Password):
		return wrong("Password", "must not have control characters; perhaps it was read with the line's end")
	case c.From == "":
		return wrong("From", "is missing: the address that mails come from")
	case c.Timeout < 0:
		return wrong("Timeout", "is %s and must not be negative", c.Timeout)
	}
	if _, err := parseFrom(c.From); err != nil {
		return wrong("From", "%q must be an address, such as Errata <errata@example.com>", c.From)
	}
	return nil
}

func (c Config) withDefaults() Config {
	c.TLS = cmp.Or(c.TLS, StartTLS)
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	if c.Port == 0 {
		c.Port = map[TLS]int{StartTLS: 587, ImplicitTLS: 465, NoTLS: 25}[c.TLS]
		c.Port = cmp.Or(c.Port, 587) // the unknown mode is the field to name
	}
	return c
}

// Open is the sender of the mail module of that name, nil where the name is "".
// The error names the setting that is wrong; those of a module that is not chosen
// may be anything.
func Open(module string, cfg Config) (*Sender, error) {
	switch module {
	case "":
		return nil, nil //nolint:nilnil // the service works without one
	case "smtp":
	default:
		return nil, fmt.Errorf("mail-module: %q is none of: smtp, or nothing for none", module)
	}
	sender, err := New(cfg)
	if field, ok := errors.AsType[*FieldError](err); ok {
		err = fmt.Errorf("smtp-%s: %s", strings.ToLower(field.Field), field.Problem)
	}
	return sender, err
}

// parseFrom reads the sender, with or without a name.
func parseFrom(from string) (*mail.Address, error) {
	if hasControl(from) {
		return nil, errors.New("control characters")
	}
	address, err := mail.ParseAddress(from)
	if err != nil {
		return nil, err
	}
	if !Deliverable(address.Address) {
		return nil, errors.New("not an address that mail can be sent from")
	}
	return address, nil
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// isLoopbackName says whether a host has a name of this machine. The name may be
// wrong, so the address is checked again when the connection is open.
func isLoopbackName(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().IsLoopback()
	}
	return strings.EqualFold(strings.TrimSuffix(host, "."), "localhost")
}
