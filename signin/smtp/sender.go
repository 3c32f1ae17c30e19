package smtp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/netip"
	"strconv"

	gomail "github.com/wneessen/go-mail"
	gosmtp "github.com/wneessen/go-mail/smtp"
)

// errNotLoopback: the name is that of this machine, and the connection leads
// elsewhere.
var errNotLoopback = errors.New("clear text is only allowed to this machine, and the server is another one")

// Sender sends mails by one server, with a connection of its own for each. All
// methods may be called at once from many goroutines.
type Sender struct {
	cfg  Config
	from *mail.Address
}

// New checks the settings; it does not connect.
func New(cfg Config) (*Sender, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	from, err := parseFrom(cfg.From)
	if err != nil {
		return nil, fmt.Errorf("smtp: From: %w", err)
	}
	return &Sender{cfg: cfg, from: from}, nil
}

// Send sends one mail of plain text. Its errors are those of [Sender.SendMail].
func (s *Sender) Send(ctx context.Context, to, subject, text string) error {
	return s.SendMail(ctx, Mail{To: to, Subject: subject, Text: text})
}

// SendMail sends one mail and returns when the server has accepted it. Errors are
// *[Error], within Config.Timeout at the latest.
func (s *Sender) SendMail(ctx context.Context, m Mail) error {
	message, err := compose(s.from, m)
	if err != nil {
		return &Error{Server: s.Server(), reason: s.scrub(err.Error(), m.To)}
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	err = s.converse(ctx, func(client *gomail.Client, session *gosmtp.Client) error {
		return client.SendWithSMTPClient(session, message)
	})
	if err != nil {
		return s.failure(err, ctx.Err(), m.To)
	}
	return nil
}

// Reach connects to the server, over TLS where that is set, and quits: it
// neither logs in nor sends. Errors are as those of Send.
func (s *Sender) Reach(ctx context.Context) error {
	anonymous := *s
	anonymous.cfg.Username, anonymous.cfg.Password = "", ""
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	if err := anonymous.converse(ctx, func(*gomail.Client, *gosmtp.Client) error { return nil }); err != nil {
		return s.failure(err, ctx.Err(), "")
	}
	return nil
}

// Server is the mail server, host:port.
func (s *Sender) Server() string { return net.JoinHostPort(s.cfg.Host, strconv.Itoa(s.cfg.Port)) }

// converse opens a session with the server, calls say, and quits.
func (s *Sender) converse(ctx context.Context, say func(*gomail.Client, *gosmtp.Client) error) error {
	line := &line{sender: s}
	client, err := s.client(line)
	if err != nil {
		return err
	}
	// The library checks the context only while it dials, and does not close a
	// connection whose greeting fails. So the line is closed here, in both cases.
	defer line.close()
	stop := context.AfterFunc(ctx, line.close)
	defer stop()
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return err
	}
	if err := say(client, session); err != nil {
		return err
	}
	// The server has the mail. A QUIT that fails changes nothing about that,
	// and an error here would cause a second mail.
	_ = client.CloseWithSMTPClient(session)
	return nil
}

func (s *Sender) client(line *line) (*gomail.Client, error) {
	options := []gomail.Option{
		// The context is the time limit. The library's own begins anew at each
		// step, so it is set longer.
		gomail.WithPort(s.cfg.Port), gomail.WithTimeout(2 * s.cfg.Timeout),
		gomail.WithDialContextFunc(line.dial), gomail.WithTLSConfig(s.tlsConfig()),
		// One mail for each connection: nothing to keep alive, nothing to reset.
		gomail.WithoutNoop(), gomail.WithoutRset(),
	}
	switch s.cfg.TLS {
	case StartTLS:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	case ImplicitTLS:
		options = append(options, gomail.WithSSL())
	case NoTLS:
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	}
	if s.cfg.Username != "" {
		ways := []gomail.SMTPAuthType{gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthPlain, gomail.SMTPAuthLogin}
		if s.cfg.TLS == NoTLS {
			// Refused by the library in clear text unless it is asked for by name.
			ways = []gomail.SMTPAuthType{gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthPlainNoEnc, gomail.SMTPAuthLoginNoEnc}
		}
		options = append(options, gomail.WithOpportunisticSMTPAuth(ways...),
			gomail.WithUsername(s.cfg.Username), gomail.WithPassword(s.cfg.Password))
	}
	return gomail.NewClient(s.cfg.Host, options...)
}

func (s *Sender) tlsConfig() *tls.Config {
	return &tls.Config{ServerName: s.cfg.Host, RootCAs: s.cfg.RootCAs, MinVersion: tls.VersionTLS12}
}

// loopback says whether a connection ends on this machine.
func loopback(conn net.Conn) bool {
	addr, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	return err == nil && addr.Addr().Unmap().IsLoopback()
}
