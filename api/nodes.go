package api

import (
	"context"

	errata "github.com/errata-log/errata"
)

// Nodes are those of the cluster.
type Nodes interface {
	// Leave takes a node out of the cluster for good, and returns those that are left. With
	// running it may be one that runs. Kinds: not_found, node_is_needed, log_unavailable.
	Leave(ctx context.Context, node string, running bool) (left []string, err error)
}

type leaveBody struct {
	Node    string `json:"node"`
	Running bool   `json:"running"`
}

// leave takes a node out of the cluster, and waits until it is out.
func (s *service) leave(c *call, body leaveBody) (answer, error) {
	if body.Node == "" {
		return answer{}, errata.Errorf(errata.KindInvalidEntry, "Name the node that leaves, as in the list of nodes.")
	}
	defer c.withoutDeadline()()
	left, err := s.Nodes.Leave(c.Request.Context(), body.Node, body.Running)
	return reply(map[string]any{"node": body.Node, "nodes": left}, err)
}
