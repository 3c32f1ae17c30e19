package post

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/alerts/render"
	"github.com/errata-log/errata/signin/smtp"
)

const (
	// timeout bounds a request from looking up the name to the last byte of the answer.
	timeout = 10 * time.Second
	// maxResponse is how much of an answer is read, and of its header.
	maxResponse = 64 << 10
	// maxRetryAfter bounds what a receiver may ask for: messages are only tried for a day.
	maxRetryAfter = time.Hour
)

// Mailer sends one mail; *[smtp.Sender] is one.
type Mailer interface {
	SendMail(ctx context.Context, m smtp.Mail) error
}

// Config is what a [Sender] needs.
type Config struct {
	// AllowHosts may be asked although they have a private address, and without TLS: names
	// or addresses, each with or without a port, such as chat.internal or 10.0.0.7:8065.
	AllowHosts []string
	// Mail is nil where there is no mail server.
	Mail Mailer
	// UserAgent is "" for Errata.
	UserAgent string
	// RootCAs are trusted for the receivers' certificates, nil for the system's.
	RootCAs *x509.CertPool
	// Resolver looks up names, nil for the system's.
	Resolver *net.Resolver
	// Now is nil for time.Now.
	Now func() time.Time
}

// Sender sends messages. All methods may be called at once from many goroutines.
type Sender struct {
	cfg       Config
	allow     allowed
	dialer    net.Dialer
	transport *http.Transport
	timeout   time.Duration
}

// New checks the settings; it does not connect.
func New(cfg Config) (*Sender, error) {
	allow, err := parseAllowed(cfg.AllowHosts)
	if err != nil {
		return nil, fmt.Errorf("post: AllowHosts: %w", err)
	}
	cfg.UserAgent = cmp.Or(cfg.UserAgent, "Errata")
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Sender{cfg: cfg, allow: allow, dialer: net.Dialer{Resolver: cfg.Resolver, ControlContext: control}, timeout: timeout}
	// A transport alone follows no redirect and keeps no cookie. It has no proxy, which
	// would make the connection in our place, to any address.
	s.transport = &http.Transport{
		DialContext:     s.dial,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: cfg.RootCAs},
		// One message for each rule and minute needs no open connections, and each new
		// one is checked.
		DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: maxResponse,
	}
	return s, nil
}

// Send sends a message and says how that went, within ten seconds for a request and 45 for
// the mails to all addresses.
func (s *Sender) Send(ctx context.Context, r render.Request) Outcome {
	if r.Kind == alerts.Email {
		return s.mail(ctx, r)
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	hide := newVeil(r)
	response, body, err := s.post(ctx, r) //nolint:bodyclose // post has read and closed it
	if err != nil {
		return Outcome{Err: hide.line(s.explain(ctx, err))}
	}
	o := Outcome{Status: response.StatusCode, Answer: hide.answer(body)}
	switch status := response.StatusCode; {
	case status >= 200 && status < 300:
		o.OK = true
		return o
	case status >= 300 && status < 400:
		o.Err = fmt.Sprintf("the receiver redirects (%d), and redirects are not followed", status)
	default:
		o.Err = fmt.Sprintf("the receiver answered %d", status)
		o.Permanent = permanent(r.Kind, status)
	}
	o.RetryAfter = retryAfter(response.Header.Get("Retry-After"), body, s.cfg.Now())
	return o
}

func (s *Sender) post(ctx context.Context, r render.Request) (*http.Response, []byte, error) {
	u, err := url.Parse(r.URL)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, nil, errURL
	}
	if u.Scheme == "http" && !s.allow.has(hostPort(u)) {
		return nil, nil, errClearText
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return nil, nil, errURL
	}
	for name, value := range r.Header {
		request.Header.Set(name, value)
	}
	request.Header.Set("User-Agent", s.cfg.UserAgent)
	response, err := s.transport.RoundTrip(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	// An answer that breaks off is one: the receiver has the message.
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	return response, body, nil
}

// dial connects to the host of a URL. Without a proxy, address is that of the URL.
func (s *Sender) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := s.dialer
	if s.allow.has(address) {
		dialer.ControlContext = nil
	}
	return dialer.DialContext(ctx, network, address)
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// Reasons that have no error of another package.
var (
	errURL       = errors.New("the url of the channel is no http(s) address")
	errClearText = errors.New("the url of the channel has to begin with https://, or the operator has to allow its host")
)

// explain is the reason in words for the page.
func (s *Sender) explain(ctx context.Context, err error) string {
	if refused, ok := errors.AsType[*addressError](err); ok {
		return refused.Error()
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "no answer within " + s.timeout.String()
	case ctx.Err() != nil:
		return "the service stops"
	}
	return err.Error()
}
