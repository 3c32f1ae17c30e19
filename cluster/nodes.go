package cluster

import (
	"context"

	errata "github.com/errata-log/errata"
)

// The roles of a node.
const roleLeads, roleFollows, roleAway = "leads", "follows", "away"

// Nodes are the nodes in the order of the list of peers, without those that have left. A service
// of its own has none.
func (m *Members) Nodes(ctx context.Context) []errata.Node {
	if m == nil {
		return nil
	}
	leader, _ := m.cfg.Leader(ctx) // "" while nobody leads, and while that is not known
	m.mu.Lock()
	defer m.mu.Unlock()
	peers := m.peers()
	nodes := make([]errata.Node, len(peers))
	for i, peer := range peers {
		nodes[i] = m.node(peer, leader)
	}
	return nodes
}

// node is one of them. The caller holds mu.
func (m *Members) node(peer, leader string) errata.Node {
	said, known := m.heard[peer]
	n := errata.Node{
		Name: peer, Self: peer == m.cfg.Self, Role: roleFollows, Version: said.Version,
		Position: said.Folded, LagMS: said.Lag.Milliseconds(), Free: said.Free,
	}
	switch {
	case !known:
		n.Role, n.Away = roleAway, errata.Instant(m.began)
	case m.silence(peer) > silent:
		n.Role, n.Away = roleAway, errata.Instant(said.at)
	case peer == leader:
		n.Role = roleLeads
	}
	return n
}
