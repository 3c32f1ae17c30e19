package cluster

import (
	"context"
	"fmt"
	"time"

	errata "github.com/errata-log/errata"
)

// behindOK is how far the records of a node may be behind the log without a word about it.
const behindOK = 10 * time.Second

// Checks says of each node what it does in the cluster, how far its records are, and what its
// disk has left. There are none without other nodes.
func (m *Members) Checks(ctx context.Context) (checks []errata.Check) {
	if m == nil {
		return nil
	}
	leader, err := m.cfg.Leader(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	peers := m.peers()
	c := errata.Check{Name: "cluster", OK: err == nil && leader != "", Detail: fmt.Sprintf("%d nodes, this one is %s; %s leads the log", len(peers), m.cfg.Self, leader)}
	if !c.OK {
		c.Detail = fmt.Sprintf("%d nodes, this one is %s; the log has no leader", len(peers), m.cfg.Self)
		c.Hint = "events are taken once a majority of the nodes can reach each other: are they running, and is the port of the routes open?"
	}
	checks = append(checks, c)
	for _, peer := range peers {
		checks = append(checks, m.check(peer, leader))
	}
	return checks
}

// check is that of one node. The caller holds mu.
func (m *Members) check(peer, leader string) errata.Check {
	c := errata.Check{Name: "node " + peer}
	n, said := m.node(peer, leader), m.heard[peer]
	if n.Role == roleAway {
		c.Detail = fmt.Sprintf("not heard for %v", m.silence(peer).Round(time.Second))
		c.Hint = "the others go on without it; start it again, and it catches up by itself"
		return c
	}
	c.Detail = fmt.Sprintf("%s, version %s, records at fact %d and %v behind the log, %d MiB free", n.Role, said.Version, said.Folded, said.Lag.Round(time.Millisecond), said.Free>>20)
	if said.Doing != "" {
		c.Detail += "; " + said.Doing
		c.Hint = "its lists answer 503 until it has caught up; the lists of the other nodes are complete"
		return c
	}
	if c.OK = said.Lag <= behindOK; !c.OK {
		c.Hint = "its records catch up by themselves; lists of the other nodes show more meanwhile"
	}
	return c
}
