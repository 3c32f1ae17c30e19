package alerts

import (
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"

	errata "github.com/errata-log/errata"
)

// ChannelKind says how a message is sent.
type ChannelKind string

// The kinds of channels.
const (
	Webhook    ChannelKind = "webhook"
	Email      ChannelKind = "email"
	Slack      ChannelKind = "slack"
	Discord    ChannelKind = "discord"
	Teams      ChannelKind = "teams"
	Mattermost ChannelKind = "mattermost"
	Telegram   ChannelKind = "telegram"
	Ntfy       ChannelKind = "ntfy"
)

// ChannelKinds are all kinds, in the order in which they are shown.
var ChannelKinds = []ChannelKind{Webhook, Email, Slack, Discord, Teams, Mattermost, Telegram, Ntfy}

// Channel is where messages go. Its secrets are what would let somebody else send there.
type Channel struct {
	ID      string      `json:"id"`
	Name    string      `json:"name"`
	Kind    ChannelKind `json:"kind"`
	Enabled bool        `json:"enabled"`
	// URL is where a message is posted. For every kind but webhook it is a secret: who has
	// it can post there.
	URL string `json:"url,omitempty"`
	// Secret signs the messages of a webhook ("whsec_" and 24 to 64 bytes in Base64), and
	// is the token of the other kinds that have one: ntfy, telegram.
	Secret string `json:"secret,omitempty"`
	// Chat is the chat of telegram.
	Chat string `json:"chat,omitempty"`
	// Addresses are those of e-mail.
	Addresses []string `json:"addresses,omitempty"`
	// Sealed has URL and Secret while they are empty; see [Seal].
	Sealed []byte `json:"sealed,omitempty"`
}

// Shown is the channel as it is answered: without what lets somebody else send there. Of a
// URL that is a secret, the host is left.
func (c Channel) Shown() Channel {
	c.Secret, c.Sealed = "", nil
	if u, err := url.Parse(c.URL); c.Kind != Webhook && err == nil && c.URL != "" {
		c.URL = u.Scheme + "://" + u.Host + "/" + cutMark
	}
	return c
}

// cutMark stands for what is not shown of a URL. No URL that works has it.
const cutMark = "…"

const (
	// maxURL is the longest URL of a channel in bytes.
	maxURL = 1000
	// maxAddresses bounds the mails for one message.
	maxAddresses = 20
	// maxAddress is the longest mail address in bytes.
	maxAddress = 254
)

// check says what is wrong with a channel.
func (c *Channel) check() error {
	if err := checkName(c.Name, "channel"); err != nil {
		return err
	}
	if !slices.Contains(ChannelKinds, c.Kind) {
		return invalid("kind", "kind is one of %s.", joined(ChannelKinds))
	}
	if c.Kind == Email {
		return c.checkAddresses()
	}
	if len(c.Addresses) > 0 {
		return invalid("addresses", "Only a channel of the kind %s has addresses.", Email)
	}
	if err := checkURL(c.URL); err != nil {
		return err
	}
	switch {
	case c.Kind == Telegram && (c.Chat == "" || len(c.Chat) > maxText):
		return invalid("chat", "chat is the number or the @name of the chat that the bot writes to.")
	case c.Kind != Telegram && c.Chat != "":
		return invalid("chat", "Only a channel of the kind %s has a chat.", Telegram)
	case c.Kind == Webhook:
		if _, err := SigningKey(c.Secret); err != nil {
			return err
		}
	case len(c.Secret) > maxText || strings.ContainsFunc(c.Secret, func(r rune) bool { return r <= ' ' || r > '~' }):
		return invalid("secret", "secret has at most %d printable characters of ASCII.", maxText)
	}
	return nil
}

func (c *Channel) checkAddresses() error {
	if c.URL != "" || c.Secret != "" || c.Chat != "" {
		return invalid("url", "A channel of the kind %s has addresses, and no url, secret or chat.", Email)
	}
	if len(c.Addresses) == 0 || len(c.Addresses) > maxAddresses {
		return invalid("addresses", "addresses has 1 to %d mail addresses.", maxAddresses)
	}
	for i, address := range c.Addresses {
		if parsed, err := mail.ParseAddress(address); err != nil || parsed.Address != address || len(address) > maxAddress {
			field := "addresses[" + strconv.Itoa(i) + "]"
			return invalid(field, "%s is no plain mail address, such as oncall@example.com.", field)
		}
	}
	return nil
}

// checkURL checks the form of a URL. Whether its host may be asked is known when the
// connection is made: a name may lead to another address by then.
func checkURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxURL || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil || u.Fragment != "" ||
		strings.Contains(text, cutMark) {
		return invalid("url", "url is a whole https:// address of at most %d bytes, without a user and a fragment.", maxURL)
	}
	return nil
}

func joined[T ~string](list []T) string {
	texts := make([]string, len(list))
	for i, one := range list {
		texts[i] = string(one)
	}
	return strings.Join(texts, ", ")
}

// Channels are all channels in the order in which they were made. They never change.
type Channels = list[Channel]

func (c Channel) id() string { return c.ID }

// ErrNoChannel and ErrNoRule say that there is no such thing.
var (
	ErrNoChannel = errata.Errorf(errata.KindNotFound, "There is no channel with this id.")
	ErrNoRule    = errata.Errorf(errata.KindNotFound, "There is no rule with this id.")
)
