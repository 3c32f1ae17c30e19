package engine

import (
	"crypto/rand"
	"errors"
	"net"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

const (
	// ClientUser is the user of applications that publish events to the
	// embedded NATS. It may do nothing else.
	ClientUser = "errata_app"
	// serviceUser is the service's own user on a server that others reach too.
	serviceUser = "errata"
	// ClientInbox begins the subjects that [ClientUser] hears its answers at.
	// Each user has such a beginning, made of its name, so that nobody hears the
	// answers of another; client/natstransport uses it by itself.
	ClientInbox = "_INBOX_" + ClientUser
	// serviceInbox begins the subjects of what the service is told: its keys
	// and its log among them.
	serviceInbox = "_ERRATA"
	// maxNATSConns bounds the connections to the embedded server.
	maxNATSConns = 4096
)

// NATSClients lets applications on other processes and machines publish to the
// embedded NATS. The zero NATSClients lets nobody.
type NATSClients struct {
	// Addr is the address to listen on, host:port, "" for none. Port 0 takes a
	// free one, which stays the same when the server is restarted.
	Addr string
	// Password is that of [ClientUser].
	Password string
	// Publish are the subjects that the user may publish to; it may listen to
	// nothing but its own answers.
	Publish []string
}

// listen opens the server to applications and to ingest nodes.
func (c NATSConfig) listen(o *server.Options) (err error) {
	if err := errors.Join(c.leaves(o), c.join(o)); err != nil {
		return err
	}
	if c.Leaves.Addr != "" || c.Hub.URL != "" { // a hub and its nodes notice when the other one is frozen
		o.PingInterval, o.MaxPingsOut = natsPing, natsPingsUnheard
	}
	if c.Clients.Addr == "" {
		o.DontListen = true
	} else {
		if c.Clients.Password == "" || len(c.Clients.Publish) == 0 {
			return errors.New("engine: NATS clients need a password and subjects to publish to")
		}
		if o.Host, o.Port, err = listenAt("clients", c.Clients.Addr); err != nil {
			return err
		}
	}
	o.MaxConn = maxNATSConns
	return c.accounts(o)
}

// clientUser may publish events, and listen to its own answers.
func (c NATSConfig) clientUser(account *server.Account) *server.User {
	return &server.User{
		Username: ClientUser, Password: c.Clients.Password, Account: account,
		AllowedConnectionTypes: map[string]struct{}{typeClient: {}},
		Permissions: &server.Permissions{
			Publish:   &server.SubjectPermission{Allow: c.Clients.Publish},
			Subscribe: &server.SubjectPermission{Allow: []string{ClientInbox + ".>"}},
		},
	}
}

// ownOptions are those of the service's connection to the embedded server.
func (n *NATS) ownOptions() []nats.Option {
	if n.cfg.Clients.Addr == "" && n.cfg.Leaves.Addr == "" {
		return n.options() // there are no users
	}
	return append(n.options(), nats.UserInfo(serviceUser, n.cfg.password))
}

// ClientsAddr is the address that applications reach the embedded NATS at, nil
// when they cannot.
func (n *NATS) ClientsAddr() net.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.embedded == nil || n.cfg.Clients.Addr == "" {
		return nil
	}
	return n.embedded.Addr()
}

// keepAddr makes the ports that were taken those of the next start.
func (n *NATS) keepAddr() {
	if addr := n.LeavesAddr(); addr != "" {
		n.cfg.Leaves.Addr = addr
	}
	if addr := n.ClientsAddr(); addr != nil {
		n.cfg.Clients.Addr = addr.String()
	}
}

// newPassword is 130 bits of chance.
func newPassword() string { return rand.Text() }
