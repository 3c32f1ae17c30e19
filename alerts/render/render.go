package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/errata-log/errata/alerts"
)

// Request is one message, ready to be sent: a POST of Body to URL, or Mail.
type Request struct {
	Kind alerts.ChannelKind
	// ID is that of the message.
	ID string
	// URL is where Body is posted with Header. All three may hold secrets.
	URL    string
	Header map[string]string
	Body   []byte
	// Mail is what a channel of e-mail sends.
	Mail Mail
	// Secrets are the texts that no error, log or answer may show, besides what stands
	// in URL behind the host.
	Secrets []string
}

// Mail is one mail to each address.
type Mail struct {
	To                  []string
	Subject, Text, HTML string
}

// String names the message and none of its secrets.
func (r Request) String() string { return string(r.Kind) + " message " + r.ID }

// GoString is String.
func (r Request) GoString() string { return r.String() }

// LogValue is String.
func (r Request) LogValue() slog.Value { return slog.StringValue(r.String()) }

// Errors of [Render].
var (
	// ErrEmpty says that a message has no firing, and is no test.
	ErrEmpty = errors.New("the message has no firings")
	// ErrChannel says that the channel lacks what its kind needs. It never shows a value.
	ErrChannel = errors.New("the channel cannot be used")
)

// Render is the message for the channel. now is the time of this attempt, which webhooks
// sign: a message is rendered again for each attempt.
func Render(channel alerts.Channel, m alerts.Message, now time.Time) (Request, error) {
	if len(m.Items) == 0 && !m.Test {
		return Request{}, ErrEmpty
	}
	r := Request{Kind: channel.Kind, ID: m.ID, URL: channel.URL}
	if channel.Secret != "" {
		r.Secrets = append(r.Secrets, channel.Secret)
	}
	if channel.Kind == alerts.Email {
		r.Mail = mail(m, channel.Name)
		r.Mail.To = channel.Addresses
		return r, nil
	}
	if u, err := url.Parse(channel.URL); err != nil || u.Hostname() == "" {
		return Request{}, fmt.Errorf("%w: its url is no address", ErrChannel)
	}
	r.Header = map[string]string{"Content-Type": "application/json"}
	var err error
	switch channel.Kind {
	case alerts.Webhook:
		err = r.webhook(channel.Secret, m, now)
	case alerts.Slack:
		r.Body = slack(m, channel.Name)
	case alerts.Discord:
		r.Body = discord(m, channel.Name)
	case alerts.Teams:
		r.Body = teams(m, channel.Name)
	case alerts.Mattermost:
		r.Body = mattermost(m, channel.Name)
	case alerts.Telegram:
		err = r.telegram(channel, m)
	case alerts.Ntfy:
		err = r.ntfy(channel, m)
	default:
		err = fmt.Errorf("%w: its kind is unknown", ErrChannel)
	}
	if err != nil {
		return Request{}, err
	}
	return r, nil
}

// size is how much of a message is shown.
type size struct {
	// text is the longest text in runes, items how many firings are listed.
	text, items int
}

// sizes are tried until the body fits. With the last one every body does, because links
// and all other texts are bounded too.
var sizes = []size{{1200, alerts.MaxItems}, {500, alerts.MaxItems}, {200, alerts.MaxItems}, {100, alerts.MaxItems}, {80, 5}, {60, 1}}

// fit is the longest body that fits.
func fit[T any](build func(size) T, fits func(T) bool) T {
	var body T
	for _, s := range sizes {
		if body = build(s); fits(body) {
			break
		}
	}
	return body
}

// fitJSON is fit for a body that has a largest size in bytes, most.
func fitJSON[T any](most int, build func(size) T) []byte {
	return fit(func(s size) []byte { return encode(build(s)) }, func(body []byte) bool { return len(body) <= most })
}

// encode is a value as JSON. Bodies are no HTML, in which alone < and & would matter.
func encode(value any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic("render: a body cannot be encoded: " + err.Error()) // only for a type that JSON does not know
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
