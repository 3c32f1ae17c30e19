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
	// The connection leaves a server that answers none of this many pings, one in
	// each interval. That takes at most one more interval: 4 s.
	pingInterval  = time.Second
	pingsUnheard  = 2
	inboxPrefix   = "_INBOX"
	reconnectWait = 250 * time.Millisecond
)

// Connect connects to the servers, URLs with commas between them, as is best for a
// [Transport]: answers come to the [Inbox] of the URL's user, the connection
// leaves a frozen server within 5 seconds, and it reconnects for ever. The
// options can change this.
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

// plainUser matches a name that can be part of a subject.
var plainUser = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// Inbox begins the subjects of a user's answers: _INBOX_ and the name, so that
// permissions can keep other users from listening there. It is _INBOX without a
// user, and for a name with other characters than letters, digits, _ and -.
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
		return "" // a token, not a user
	}
	return u.User.Username()
}
