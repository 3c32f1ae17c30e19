package engine

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/prometheus/client_golang/prometheus"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/datadir"
)

const (
	// LeafUser is the user of ingest nodes at their hub. Over its connection the hub
	// may ask the node and the node may answer, and nothing else.
	LeafUser = "errata_leaf"
	// leafServer begins the server name of an ingest node; its id follows.
	leafServer = "errata-leaf-"
	// leafRetry is the pause between two tries of a node to reach its hub.
	leafRetry = time.Second
	// Connection types by their names in nats-server.
	typeLeaf   = "LEAFNODE"
	typeClient = "STANDARD"
	// typeInProcess is the connection of the service itself, through memory.
	typeInProcess = "IN_PROCESS"
)

// NATSLeaves opens the embedded NATS to ingest nodes. The zero NATSLeaves opens
// nothing.
type NATSLeaves struct {
	// Addr is the address to listen on, host:port, "" for none. Port 0 takes a
	// free one, which stays the same when the server is restarted.
	Addr string
	// Password is that of [LeafUser].
	Password string
}

// NATSHub connects the embedded NATS of an ingest node to its hub. The zero NATSHub
// is for a service that keeps its own records.
type NATSHub struct {
	// URL is nats://errata_leaf:password@host:port, with the address of the hub's
	// [NATSLeaves], or tls://… where the hub has TLS.
	URL string
	// TLS is for a URL of tls.
	TLS *tls.Config
	// ID tells nodes apart: 1 to 32 lower-case letters and digits. The hub asks for
	// the node's streams under it.
	ID string
}

// leafID matches the id of an ingest node.
var leafID = regexp.MustCompile(`^[a-z0-9]{1,32}$`)

// leaves opens the server to ingest nodes.
func (c NATSConfig) leaves(o *server.Options) (err error) {
	if c.Leaves.Addr == "" {
		return nil
	}
	if c.Leaves.Password == "" {
		return errors.New("engine: NATS leaves need a password")
	}
	// Nodes use the address that their administrator gave them, which may be that of a
	// proxy, and learn no other.
	o.LeafNode.NoAdvertise = true
	o.LeafNode.TLSConfig = c.TLS
	o.LeafNode.Host, o.LeafNode.Port, err = listenAt("leaves", c.Leaves.Addr)
	return err
}

// join connects the server to its hub.
func (c NATSConfig) join(o *server.Options) error {
	if c.Hub.URL == "" {
		return nil
	}
	u, err := url.Parse(c.Hub.URL)
	switch {
	case err != nil || u.Host == "" || u.User == nil: // the text may hold a password
		return errors.New("engine: the URL of the hub is not nats://user:password@host:port")
	case !leafID.MatchString(c.Hub.ID):
		return fmt.Errorf("engine: the id %q of this node must be 1 to 32 lower-case letters and digits", c.Hub.ID)
	}
	o.ServerName = leafServer + c.Hub.ID
	// A domain of its own keeps the node's streams apart from the hub's.
	o.JetStreamDomain = c.Hub.ID
	o.LeafNode.ReconnectInterval = leafRetry
	remote := &server.RemoteLeafOpts{URLs: []*url.URL{u}}
	if u.Scheme == "tls" {
		remote.TLS, remote.TLSConfig = true, c.Hub.TLS
	}
	o.LeafNode.Remotes = []*server.RemoteLeafOpts{remote}
	return nil
}

// listenAt reads an address and checks that it is free. The server itself would only
// log that it is not, and its start would not end.
func listenAt(whom, addr string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, fmt.Errorf("engine: the address for NATS %s %q is not host:port", whom, addr)
	}
	if port, err = strconv.Atoi(text); err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("engine: the address for NATS %s %q has no port from 0 to 65535", whom, addr)
	}
	probe, err := net.Listen("tcp", addr)
	if err != nil {
		if errors.Is(err, errAddressTaken) {
			return "", 0, fmt.Errorf("engine: something else has the port of %s, the address of NATS for %s, perhaps another NATS; end it, or choose another address: %w", addr, whom, err)
		}
		return "", 0, fmt.Errorf("engine: listen for NATS %s: %w", whom, err)
	}
	if err := probe.Close(); err != nil {
		return "", 0, fmt.Errorf("engine: listen for NATS %s: %w", whom, err)
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	return host, port, nil
}

// leafUser lets the hub ask for the streams of the node, and the node answer.
func (c NATSConfig) leafUser(account *server.Account) *server.User {
	return &server.User{
		Username: LeafUser, Password: c.Leaves.Password, Account: account,
		AllowedConnectionTypes: map[string]struct{}{typeLeaf: {}},
		Permissions: &server.Permissions{
			Publish:   &server.SubjectPermission{Allow: []string{serviceInbox + ".>"}},
			Subscribe: &server.SubjectPermission{Allow: []string{"$JS.*.API.>", "$JS.ACK.>"}},
		},
	}
}

// LeavesAddr is the address of the embedded NATS for ingest nodes, "" when it is not
// open to them.
func (n *NATS) LeavesAddr() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.embedded == nil || n.cfg.Leaves.Addr == "" {
		return ""
	}
	vars, err := n.embedded.Varz(nil)
	if err != nil {
		return ""
	}
	return net.JoinHostPort(vars.LeafNode.Host, strconv.Itoa(vars.LeafNode.Port))
}

// Leaves are the ids of the connected ingest nodes, sorted.
func (n *NATS) Leaves() (ids []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.embedded == nil {
		return nil
	}
	leaves, err := n.embedded.Leafz(nil)
	if err != nil {
		return nil
	}
	for _, leaf := range leaves.Leafs {
		if id, ok := strings.CutPrefix(leaf.Name, leafServer); ok && leafID.MatchString(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Joined says whether this ingest node is connected to its hub.
func (n *NATS) Joined() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.embedded != nil && n.embedded.NumLeafNodes() > 0
}

// CheckHub says whether this ingest node is connected to its hub.
func (e *Engines) CheckHub(context.Context) errata.Check {
	if !e.NATS.Joined() {
		return errata.Check{Name: "hub", Detail: "not connected",
			Hint: "events are kept here until it is; does the hub run, and is nats-leaf what stands in its " + datadir.LeafFile + "?"}
	}
	return errata.Check{Name: "hub", OK: true, Detail: "connected"}
}

// joinedGauge is [NATS.Joined] as a metric.
func (n *NATS) joinedGauge() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "errata_leaf_joined", Help: "1 while this ingest node is connected to its hub.",
	}, func() float64 {
		if n.Joined() {
			return 1
		}
		return 0
	})
}
