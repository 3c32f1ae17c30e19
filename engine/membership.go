package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/errata-log/errata/datadir"
)

// membership says to which cluster a data folder belongs.
type membership struct {
	Name string `json:"name"`
	Node string `json:"node"`
	// Growing says that errata cluster init takes the streams of a service of its own
	// into the cluster, and is not done.
	Growing bool `json:"growing,omitempty"`
	// New says that the node has not been in the cluster yet, Left that it has left it.
	New  bool `json:"new,omitempty"`
	Left bool `json:"left,omitempty"`
}

// ErrLeft says that this node has left its cluster.
var ErrLeft = errors.New("this node has left the cluster (errata cluster leave), and the others go on without it; its data folder stays as it is. Start it with an empty data folder to come back as a new node, at the earliest five minutes after it left, or remove the folder")

func (m membership) write(dir *datadir.Dir) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return datadir.WriteFile(dir.Join(datadir.ClusterFile), string(text)+"\n")
}

// claim notes in the data folder to which cluster it belongs, and returns which node this is.
// It refuses a folder of another one: a server that finds the streams of another kind of
// server deletes them.
func (c Cluster) claim(ctx context.Context, dir *datadir.Dir) (self string, err error) {
	if c.On() {
		if self, err = c.Self(ctx); err != nil {
			return "", err
		}
	}
	want := membership{Name: c.Name, Node: self}
	have, found, err := readMembership(dir)
	switch {
	case err != nil:
		return "", err
	case found && have.Growing:
		return "", fmt.Errorf("engine: errata cluster init has not brought all of %s into the cluster %q; run it again with the settings of that cluster, which goes on with what is missing", dir.Path(), have.Name)
	case found && have.Left && have.Name == want.Name && have.Node == want.Node:
		return "", fmt.Errorf("engine: %s: %w", dir.Path(), ErrLeft)
	case found && have.Name == want.Name && have.Node == want.Node:
		return self, os.RemoveAll(dir.Join(datadir.AloneDir)) // the cluster has all of it
	case !c.On() && !found:
		return self, nil
	case !c.On():
		return "", fmt.Errorf("engine: %s belongs to node %s of the cluster %q; set cluster-name and the other settings of that cluster", dir.Path(), have.Node, have.Name)
	case found:
		return "", fmt.Errorf("engine: %s belongs to node %s of the cluster %q, and the settings say node %s of %q; take another folder", dir.Path(), have.Node, have.Name, self, c.Name)
	}
	if has, err := hasStreams(dir); err != nil {
		return "", err
	} else if has {
		return "", fmt.Errorf("engine: %s has the log of a service of its own, and a cluster would begin without it; errata cluster init takes it along on the first node of cluster-peers, and the other nodes begin with empty folders", dir.Path())
	}
	want.New = true
	return self, want.write(dir)
}

// IsNew says whether this node has not been in its cluster yet, as far as its data folder knows.
func (e *Engines) IsNew() (bool, error) {
	have, _, err := readMembership(e.cfg.Dir)
	return have.New, err
}

// NoteMember notes in the data folder that this node is in its cluster, and with left that it is
// not any more: it does not start again on that folder.
func (e *Engines) NoteMember(left bool) error {
	return membership{Name: e.cfg.Cluster.Name, Node: e.NATS.Self(), Left: left}.write(e.cfg.Dir)
}

// hasStreams says whether the embedded NATS has streams in the data folder.
func hasStreams(dir *datadir.Dir) (bool, error) {
	streams, err := filepath.Glob(filepath.Join(dir.Join(datadir.NATSDir), "jetstream", ownAccount, "streams", "*"))
	return len(streams) > 0, err
}

func readMembership(dir *datadir.Dir) (m membership, found bool, err error) {
	text, err := os.ReadFile(dir.Join(datadir.ClusterFile))
	if errors.Is(err, fs.ErrNotExist) {
		return m, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return m, false, fmt.Errorf("engine: read to which cluster the folder belongs: %w", err)
	}
	return m, true, nil
}

// AwaitFounded waits, on a node that does not found its cluster, until the stream has so many
// messages. Two nodes that make a stream, or a secret, at the same time might make two.
func (n *NATS) AwaitFounded(ctx context.Context, stream string, messages uint64) error {
	if !n.cfg.Cluster.On() || n.Founds() {
		return nil
	}
	founder := n.cfg.Cluster.Peers[0]
	ask := func(ctx context.Context) error {
		s, err := n.js.Stream(ctx, stream)
		if err == nil && s.CachedInfo().State.LastSeq < messages {
			err = errNotFounded
		}
		return err
	}
	if err := n.waitFor(ctx, ask, func(err error) {
		n.cfg.Logger.Warn("this node waits for the one that founds the cluster", "founder", founder, "error", err)
	}); err != nil {
		return fmt.Errorf("engine: %s, the first of cluster-peers, has not founded the cluster: %w", founder, err)
	}
	return nil
}

// errNotFounded says that the founder is at work.
var errNotFounded = errors.New("it makes what all nodes need")

// Founds says whether this node founds its cluster. A service of its own does.
func (n *NATS) Founds() bool {
	return !n.cfg.Cluster.On() || n.cfg.self == n.cfg.Cluster.Peers[0]
}
