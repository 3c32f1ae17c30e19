package smtptest

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/errata-log/errata/signin/smtp"
)

// Server is a mail server for one test. It speaks as much SMTP as a client needs,
// and misbehaves where it is told to.
type Server struct {
	listener net.Listener
	tls      *tls.Config
	roots    *x509.CertPool

	// Implicit begins with TLS. Extensions are offered in clear text and, without
	// STARTTLS, inside TLS.
	Implicit   bool
	Extensions []string
	// User and Password are the only accepted login.
	User, Password string
	// Answer replaces the reply to a command; "" keeps the usual one. HangUp
	// closes the connection, Silence waits until the client gives up, Endless
	// sends until then. Answer is called by several goroutines.
	Answer func(command string) string

	mu       sync.Mutex
	commands []string
	mails    []Mail
	ended    sync.WaitGroup
}

// Special replies.
const (
	HangUp  = "hang up"
	Silence = "silence"
	Endless = "endless"
)

// Mail is one mail as it arrived.
type Mail struct {
	// From and To are the rest of the commands MAIL and RCPT, Data the message.
	From, To, Data string
	// Secure says that it came over TLS, Login which user sent it, "" for nobody.
	Secure bool
	Login  string
}

// New starts a server that ends with the test; change, which may be nil, sets its
// behaviour.
func New(t testing.TB, change func(*Server)) *Server {
	t.Helper()
	s := &Server{Extensions: []string{"8BITMIME", "STARTTLS", "AUTH PLAIN LOGIN"}, User: "errata", Password: "correct horse"}
	s.tls, s.roots = certificate()
	if change != nil {
		change(s)
	}
	var err error
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	s.ended.Go(s.accept)
	t.Cleanup(func() {
		_ = s.listener.Close()
		s.ended.Wait()
	})
	return s
}

// certificate is the self-signed one of httptest for 127.0.0.1, and a pool that
// trusts it.
func certificate() (*tls.Config, *x509.CertPool) {
	web := httptest.NewTLSServer(nil)
	defer web.Close()
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	return &tls.Config{Certificates: web.TLS.Certificates}, roots
}

// Close stops accepting connections, like a server that is down.
func (s *Server) Close() { _ = s.listener.Close() }

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.ended.Go(func() {
			defer conn.Close()
			talk := &talk{server: s, conn: conn}
			if s.Implicit {
				talk.conn, talk.secure = tls.Server(conn, s.tls), true
			}
			talk.run()
		})
	}
}

// Config sends to the server over TLS and with a login.
func (s *Server) Config() smtp.Config {
	return smtp.Config{
		Host: "127.0.0.1", Port: s.listener.Addr().(*net.TCPAddr).Port, Username: s.User, Password: s.Password,
		From: "Errata <errata@example.com>", RootCAs: s.roots, Timeout: 10 * time.Second,
	}
}

// Arrived are the accepted mails, the oldest first.
func (s *Server) Arrived() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mails)
}

// Heard is every command, one a line.
func (s *Server) Heard() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.commands, "\n")
}

// talk is one connection.
type talk struct {
	server *Server
	conn   net.Conn
	secure bool
	login  string
	mail   Mail
	reader *textproto.Reader
}

func (c *talk) run() {
	c.reader = textproto.NewReader(bufio.NewReader(c.conn))
	if !c.reply("", "220 mail.example.com ESMTP") {
		return
	}
	for {
		command, err := c.reader.ReadLine()
		if err != nil {
			return
		}
		c.server.mu.Lock()
		c.server.commands = append(c.server.commands, command)
		c.server.mu.Unlock()
		if !c.handle(command) {
			return
		}
	}
}

// reply sends a reply and says whether to continue. After a 5xx or 4xx in the
// place of a success the connection continues, as on real servers.
func (c *talk) reply(command, usual string) bool {
	if c.server.Answer != nil {
		if other := c.server.Answer(command); other != "" {
			usual = other
		}
	}
	switch usual {
	case HangUp:
		return false
	case Silence:
		_, _ = c.reader.ReadLine() // ends when the client gives up
		return false
	}
	if usual == Endless {
		for _, err := io.WriteString(c.conn, "550 "); err == nil; {
			_, err = io.WriteString(c.conn, strings.Repeat("x", 4096))
		}
		return false
	}
	_, err := fmt.Fprintf(c.conn, "%s\r\n", usual)
	return err == nil && (usual[0] == '2' || usual[0] == '3' || command != "")
}

func (c *talk) handle(command string) bool {
	verb, rest, _ := strings.Cut(command, " ")
	switch strings.ToUpper(verb) {
	case "EHLO":
		return c.reply(command, "250-mail.example.com"+c.offers()+"\r\n250 HELP")
	case "STARTTLS":
		if !c.reply(command, "220 go ahead") {
			return false
		}
		secure := tls.Server(c.conn, c.server.tls)
		if secure.Handshake() != nil {
			return false
		}
		c.conn, c.secure = secure, true
		c.reader = textproto.NewReader(bufio.NewReader(secure))
		return true
	case "AUTH":
		credentials, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(rest, "PLAIN "))
		if string(credentials) != "\x00"+c.server.User+"\x00"+c.server.Password {
			// Some servers repeat what they were sent.
			return c.reply(command, "535 no such login: "+string(credentials[1:])+" "+rest)
		}
		c.login = c.server.User
		return c.reply(command, "235 welcome")
	case "MAIL":
		c.mail = Mail{From: rest, Secure: c.secure, Login: c.login}
		return c.reply(command, "250 sender fine")
	case "RCPT":
		c.mail.To += rest
		return c.reply(command, "250 recipient fine")
	case "DATA":
		return c.data(command)
	case "QUIT":
		c.reply(command, "221 bye")
		return false
	default:
		return c.reply(command, "250 fine")
	}
}

func (c *talk) offers() string {
	var b strings.Builder
	for _, extension := range c.server.Extensions {
		if extension != "STARTTLS" || !c.secure {
			b.WriteString("\r\n250-" + extension)
		}
	}
	return b.String()
}

func (c *talk) data(command string) bool {
	if !c.reply(command, "354 go on") {
		return false
	}
	body, err := c.reader.ReadDotBytes()
	if err != nil {
		return false
	}
	c.mail.Data = string(body)
	if c.server.Answer == nil || c.server.Answer("end of data") == "" {
		c.server.mu.Lock()
		c.server.mails = append(c.server.mails, c.mail)
		c.server.mu.Unlock()
	}
	return c.reply("end of data", "250 taken")
}
