package smtp_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/errata-log/errata/signin/smtp"
)

// server is a mail server for one test. It speaks SMTP as far as a client
// needs it, and misbehaves where it is told to.
type server struct {
	t        *testing.T
	listener net.Listener
	tls      *tls.Config
	roots    *x509.CertPool

	// implicit begins with TLS; extensions are offered in clear text and,
	// without STARTTLS, after it.
	implicit   bool
	extensions []string
	user, pass string
	// answer replaces the reply to a command, "" leaves it. A reply of hangUp
	// closes the connection, one of silence waits until the client has gone,
	// one of endless talks until then.
	answer func(command string) string

	mu       sync.Mutex
	commands []string
	mails    []mailbag
	ended    sync.WaitGroup
}

const (
	hangUp  = "hang up"
	silence = "silence"
	endless = "endless"
)

// mailbag is one mail as it arrived.
type mailbag struct {
	from, to, data string
	secure         bool
	login          string
}

func newServer(t *testing.T, change func(*server)) *server {
	t.Helper()
	s := &server{t: t, extensions: []string{"8BITMIME", "STARTTLS", "AUTH PLAIN LOGIN"}, user: "errata", pass: "correct horse"}
	s.tls, s.roots = certificate(t)
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

// certificate is a self-signed one for 127.0.0.1, and a pool that trusts it.
func certificate(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mail"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, roots
}

func (s *server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.ended.Go(func() {
			defer conn.Close()
			talk := &talk{server: s, conn: conn}
			if s.implicit {
				talk.conn, talk.secure = tls.Server(conn, s.tls), true
			}
			talk.run()
		})
	}
}

// config sends to the server over TLS and with a login.
func (s *server) config() smtp.Config {
	_, port, err := net.SplitHostPort(s.listener.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		s.t.Fatal(err)
	}
	return smtp.Config{
		Host: "127.0.0.1", Port: number, Username: s.user, Password: s.pass,
		From: "Errata <errata@example.com>", RootCAs: s.roots, Timeout: 10 * time.Second,
	}
}

func (s *server) arrived() []mailbag {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]mailbag(nil), s.mails...)
}

func (s *server) heard() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.commands, "\n")
}

// talk is one connection.
type talk struct {
	server *server
	conn   net.Conn
	secure bool
	login  string
	mail   mailbag
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

// reply sends a reply and says whether to go on. A 5xx or 4xx in the place of
// a success is sent and the talk goes on, as servers do.
func (c *talk) reply(command, usual string) bool {
	if c.server.answer != nil {
		if other := c.server.answer(command); other != "" {
			usual = other
		}
	}
	switch usual {
	case hangUp:
		return false
	case silence:
		_, _ = c.reader.ReadLine() // ends when the client gives up
		return false
	}
	if usual == endless {
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
		if string(credentials) != "\x00"+c.server.user+"\x00"+c.server.pass {
			// Some servers repeat what they were sent.
			return c.reply(command, "535 no such login: "+string(credentials[1:])+" "+rest)
		}
		c.login = c.server.user
		return c.reply(command, "235 welcome")
	case "MAIL":
		c.mail = mailbag{from: rest, secure: c.secure, login: c.login}
		return c.reply(command, "250 sender fine")
	case "RCPT":
		c.mail.to += rest
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
	for _, extension := range c.server.extensions {
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
	c.mail.data = string(body)
	if c.server.answer == nil || c.server.answer("end of data") == "" {
		c.server.mu.Lock()
		c.server.mails = append(c.server.mails, c.mail)
		c.server.mu.Unlock()
	}
	return c.reply("end of data", "250 taken")
}
