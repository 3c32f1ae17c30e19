package engine

import (
	"crypto/rand"
	"errors"
	"net"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

const (
	// ClientUser is the user of applications that publish events to the embedded
	// NATS. It has no other rights.
	ClientUser = "errata_app"
	// serviceUser is the user of the service on a server that is open to others.
	serviceUser = "errata"
	// ClientInbox begins the subjects at which [ClientUser] receives answers. Each
	// user has a prefix of its own, made of its name, so that no user receives the
	// answers of another. client/natstransport sets it.
	ClientInbox = "_INBOX_" + ClientUser
	// serviceInbox begins the subjects at which the service receives answers, the
	// API keys and the log among them.
	serviceInbox = "_ERRATA"
	// maxNATSConns bounds the connections to the embedded server.
	maxNATSConns = 4096
)

// NATSClients opens the embedded NATS to applications in other processes and on
// other machines, which publish events. The zero NATSClients opens nothing.
type NATSClients struct {
	// Addr is the address to listen on, host:port, "" for none. Port 0 takes a
	// free one, which stays the same when the server is restarted.
	Addr string
	// Password is that of [ClientUser].
	Password string
	// Publish are the subjects that the user may publish to. It may subscribe to
	// nothing but its own answers.
	Publish []string
}

// listen opens the server to applications and to ingest nodes.
func (c NATSConfig) listen(o *server.Options) (err error) {
	if err := errors.Join(c.leaves(o), c.join(o)); err != nil {
		return err
	}
	if c.Leaves.Addr != "" || c.Hub.URL != "" { // so that hub and ingest nodes notice a frozen peer
		o.PingInterval, o.MaxPingsOut = natsPing, natsPingsUnheard
	}
	switch {
	case c.Clients.Addr == "" && c.Cluster.On():
		// The server opens its routes behind this port. No user may come in through it.
		o.Host, o.Port = "127.0.0.1", server.RANDOM_PORT
	case c.Clients.Addr == "":
		o.DontListen = true
	default:
		if c.Clients.Password == "" || len(c.Clients.Publish) == 0 {
			return errors.New("engine: NATS clients need a password and subjects to publish to")
		}
		o.TLSConfig = c.TLS
		if o.Host, o.Port, err = listenAt("clients", c.Clients.Addr); err != nil {
			return err
		}
	}
	o.MaxConn = maxNATSConns
	return c.accounts(o)
}

// clientUser may publish events, and receive its own answers.
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
	if !n.cfg.hasUsers() {
		return n.options()
	}
	return append(n.options(), nats.UserInfo(serviceUser, n.cfg.password))
}

// ClientsAddr is the address of the embedded NATS for applications, nil when it is
// not open to them.
func (n *NATS) ClientsAddr() net.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.embedded == nil || n.cfg.Clients.Addr == "" {
		return nil
	}
	return n.embedded.Addr()
}

// keepAddr keeps the ports that the server has got, for its restarts.
func (n *NATS) keepAddr() {
	if addr := n.LeavesAddr(); addr != "" {
		n.cfg.Leaves.Addr = addr
	}
	if addr := n.ClientsAddr(); addr != nil {
		n.cfg.Clients.Addr = addr.String()
	}
}

// newPassword has 130 random bits.
func newPassword() string { return rand.Text() }
