package natstransport

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// A server that answers none of this many pings, one each interval, is given
	// up for another one. It takes one interval more at most: 4 s.
	pingInterval  = time.Second
	pingsUnheard  = 2
	inboxPrefix   = "_INBOX"
	reconnectWait = 250 * time.Millisecond
)

// Connect connects to the servers of the URL, several with commas between them,
// as is best for a [Transport]: answers come at the [Inbox] of the URL's user, a
// server that is frozen is noticed within 5 seconds and another one taken, and a
// connection that was lost is made again for ever. Options come on top.
func Connect(servers string, options ...nats.Option) (*nats.Conn, error) {
	var user string
	for address := range strings.SplitSeq(servers, ",") {
		if user == "" {
			user = userIn(address)
		}
	}
	conn, err := nats.Connect(servers, append([]nats.Option{
		nats.CustomInboxPrefix(Inbox(user)),
		nats.PingInterval(pingInterval), nats.MaxPingsOutstanding(pingsUnheard),
		nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait),
	}, options...)...)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	return conn, nil
}

// plainUser can be part of a token of a subject.
var plainUser = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// Inbox begins the subjects at which a user hears answers: _INBOX_ and the name,
// so that permissions can keep one user from hearing those of another. It is
// _INBOX where there is no user, or the name holds anything but letters, digits,
// _ and -.
func Inbox(user string) string {
	if !plainUser.MatchString(user) {
		return inboxPrefix
	}
	return inboxPrefix + "_" + user
}

// userIn is the user in the address of a server, "" for none.
func userIn(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.User == nil {
		return ""
	}
	if _, ok := u.User.Password(); !ok {
		return "" // it is a token
	}
	return u.User.Username()
}
