package engine

import (
	"errors"
	"fmt"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

const (
	// ownAccount holds everything of the service. It is the server's default account:
	// older versions had no other, and the name is part of the paths of streams on
	// the disk.
	ownAccount = "$G"
	// applicationsAccount is the account of [ClientUser]. A publisher chooses the
	// subject of the answer, and JetStream answers with rights of its own. In an
	// account of their own, applications can only choose a subject of that account.
	applicationsAccount = "APPLICATIONS"
	// leavesAccount is the account of [LeafUser], for the same reason: the hub
	// answers and acknowledges the messages of an ingest node.
	leavesAccount = "LEAVES"
	// hubUser is the user of the service in leavesAccount.
	hubUser = "errata_hub"
	// systemUser is the user of the service in the account of the server itself, which alone may
	// take a server out of a cluster.
	systemUser = "errata_system"
)

// accounts keeps applications and ingest nodes away from the streams of the service.
// Of the service's account, applications see the subjects that they may publish to,
// and ingest nodes see nothing. A server without any port has no accounts.
func (c NATSConfig) accounts(o *server.Options) error {
	if !c.hasUsers() {
		return nil
	}
	own := server.NewAccount(ownAccount)
	o.Accounts = append(o.Accounts, own)
	// A user without an account belongs to ownAccount.
	o.Users = append(o.Users, &server.User{
		Username: serviceUser, Password: c.password, AllowedConnectionTypes: map[string]struct{}{typeInProcess: {}},
	})
	if c.Cluster.On() {
		system := server.NewAccount(server.DEFAULT_SYSTEM_ACCOUNT)
		o.Accounts = append(o.Accounts, system)
		o.Users = append(o.Users, &server.User{
			Username: systemUser, Password: c.password, Account: system,
			AllowedConnectionTypes: map[string]struct{}{typeInProcess: {}},
		})
	}
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

// hasUsers says whether the server has a port, and so users.
func (c NATSConfig) hasUsers() bool {
	return c.Clients.Addr != "" || c.Leaves.Addr != "" || c.Cluster.On()
}

// enableOwnJetStream switches JetStream on for the service's account. A server
// without accounts has done that itself.
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

// connectHub connects the service to leavesAccount.
func (n *NATS) connectHub() (err error) {
	if n.cfg.Leaves.Addr == "" {
		return nil
	}
	n.hub, err = nats.Connect("", append(n.options(), nats.InProcessServer(n), nats.UserInfo(hubUser, n.cfg.password))...)
	return err
}

// HubConn is the connection to the streams of ingest nodes, nil when NATS is not open
// to them. It does not reach the streams of the service.
func (n *NATS) HubConn() *nats.Conn { return n.hub }
