package engine

import (
	"errors"
	"fmt"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

const (
	// ownAccount holds everything of the service's. It is the server's default,
	// under whose name streams have stood on the disk since before there were
	// others.
	ownAccount = "$G"
	// applicationsAccount is that of [ClientUser]. JetStream answers a publisher
	// with its own rights, at whatever subject the publisher wants the answer.
	// In an account of their own that subject is one of theirs.
	applicationsAccount = "APPLICATIONS"
	// leavesAccount is that of [LeafUser], for the same reason: what a node says
	// is answered and acknowledged by the hub.
	leavesAccount = "LEAVES"
	// hubUser is the service's own user among its ingest nodes.
	hubUser = "errata_hub"
)

// accounts keeps those who reach the server apart from what is the service's.
// Applications see the subjects that they may publish to, as a service of the
// service's account, and nothing else of it; nodes see nothing of it. o has
// none when nobody reaches the server.
func (c NATSConfig) accounts(o *server.Options) error {
	if c.Clients.Addr == "" && c.Leaves.Addr == "" {
		return nil
	}
	own := server.NewAccount(ownAccount)
	o.Accounts = append(o.Accounts, own)
	// Without an account of its own it is of ownAccount.
	o.Users = append(o.Users, &server.User{
		Username: serviceUser, Password: c.password, AllowedConnectionTypes: map[string]struct{}{typeInProcess: {}},
	})
	if c.Clients.Addr != "" {
		applications := server.NewAccount(applicationsAccount)
		for _, subject := range c.Clients.Publish {
			err := errors.Join(
				own.AddServiceExport(subject, []*server.Account{applications}),
				applications.AddServiceImport(own, subject, subject))
			if err != nil {
				return fmt.Errorf("engine: let applications publish to %s: %w", subject, err)
			}
		}
		o.Accounts = append(o.Accounts, applications)
		o.Users = append(o.Users, c.clientUser(applications))
	}
	if c.Leaves.Addr != "" {
		leaves := server.NewAccount(leavesAccount)
		o.Accounts = append(o.Accounts, leaves)
		o.Users = append(o.Users, c.leafUser(leaves), &server.User{
			Username: hubUser, Password: c.password, Account: leaves,
			AllowedConnectionTypes: map[string]struct{}{typeInProcess: {}},
		})
	}
	return nil
}

// enableOwnJetStream gives the service its streams on a server with accounts.
// One without accounts has done it by itself.
func enableOwnJetStream(srv *server.Server) error {
	own := srv.GlobalAccount()
	if own.JetStreamEnabled() {
		return nil
	}
	if err := own.EnableJetStream(nil, nil); err != nil {
		return fmt.Errorf("engine: open the streams of the embedded NATS: %w", err)
	}
	return nil
}

// connectHub connects the service to the account of its ingest nodes.
func (n *NATS) connectHub() (err error) {
	if n.cfg.Leaves.Addr == "" {
		return nil
	}
	n.hub, err = nats.Connect("", append(n.options(), nats.InProcessServer(n), nats.UserInfo(hubUser, n.cfg.password))...)
	return err
}

// HubConn is the connection through which the streams of ingest nodes are
// reached, nil where none can come. Nothing of the service's own is behind it.
func (n *NATS) HubConn() *nats.Conn { return n.hub }
