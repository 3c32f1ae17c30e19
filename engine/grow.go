package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/internal/made"
)

// bucketStream begins the names of the streams behind buckets.
const bucketStream = "KV_"

// leaderPatience is how long a stream may have no leader before it counts as one that nobody
// makes: an election after the death of a node takes 4 to 10 s.
const leaderPatience = 30 * time.Second

// errFounded says that the nodes have a log already.
var errFounded = errors.New("the other nodes have a log of their own; two logs cannot become one, so start this node with an empty folder, or the others")

// Growth takes the streams of a service of its own into a cluster, of which that service
// becomes the founder. It can be repeated after any interruption.
type Growth struct {
	// Config is that of the founder.
	Config Config
	// Founded is a stream that exists once the cluster has a log of its own.
	Founded string
	// Moved is told of each stream that the nodes have now, and of how many there are.
	Moved func(stream string, messages uint64, of int)
}

// Run moves the streams by the server's own snapshots, so that their sequences stay. It keeps
// the old files aside until every node that is to have a stream has it: a kill loses nothing.
func (g Growth) Run(ctx context.Context) (err error) {
	cfg := g.Config
	self, err := cfg.Cluster.Self(ctx)
	if err != nil {
		return err
	}
	if self != cfg.Cluster.Peers[0] {
		return fmt.Errorf("this node is %s, and the one that brings the log along must be the first of cluster-peers, on all nodes", self)
	}
	if err := putAside(cfg.Dir, membership{Name: cfg.Cluster.Name, Node: self, Growing: true}); err != nil {
		return err
	}
	err = g.move(ctx, self)
	if errors.Is(err, errFounded) {
		return errors.Join(err, putBack(cfg.Dir))
	}
	if err != nil {
		return err
	}
	syncDisks()
	if err := (membership{Name: cfg.Cluster.Name, Node: self}).write(cfg.Dir); err != nil {
		return err
	}
	return os.RemoveAll(cfg.Dir.Join(datadir.AloneDir))
}

// putAside notes what is going on, and then makes room for the files of the cluster. The order
// counts: a folder with files of the cluster is always noted as one.
func putAside(dir *datadir.Dir, want membership) error {
	have, found, err := readMembership(dir)
	switch {
	case err != nil:
		return err
	case found && have != want:
		return fmt.Errorf("%s belongs to node %s of the cluster %q already; start it, or take the folder of the service whose log is to come along", dir.Path(), have.Node, have.Name)
	case !found:
		if has, err := hasStreams(dir); err != nil {
			return err
		} else if !has {
			return fmt.Errorf("%s has no log to bring along; errata serve alone makes a node of it", dir.Path())
		}
		if err := want.write(dir); err != nil {
			return err
		}
	}
	_, err = os.Stat(dir.Join(datadir.AloneDir))
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return errors.Join(os.Rename(dir.Join(datadir.NATSDir), dir.Join(datadir.AloneDir)), datadir.Sync(dir.Path()))
}

// putBack makes the folder again that of a service of its own.
func putBack(dir *datadir.Dir) error {
	if err := os.RemoveAll(dir.Join(datadir.NATSDir)); err != nil {
		return err
	}
	if err := os.Rename(dir.Join(datadir.AloneDir), dir.Join(datadir.NATSDir)); err != nil {
		return err
	}
	return errors.Join(datadir.Sync(dir.Path()), os.Remove(dir.Join(datadir.ClusterFile)))
}

// move starts a server on the old files beside that of the node, and moves the streams.
func (g Growth) move(ctx context.Context, self string) (err error) {
	cfg := g.Config
	if cfg.LogMaxBytes == 0 {
		cfg.LogMaxBytes = defaultLogMaxBytes(cfg.path(""), true)
	}
	alone := cfg.nats()
	alone.StoreDir, alone.Cluster = cfg.path(datadir.AloneDir), Cluster{}
	from, err := StartNATS(ctx, alone)
	if err != nil {
		return fmt.Errorf("open the log of the service: %w", err)
	}
	defer func() { err = errors.Join(err, from.Stop(context.WithoutCancel(ctx))) }()
	_, reserved, err := from.embedded.JetStreamReservedResources()
	if err != nil {
		return fmt.Errorf("read what the log of the service has reserved: %w", err)
	}
	node := cfg.nats()
	node.self, node.MaxStore = self, node.MaxStore+reserved
	to, err := StartNATS(ctx, node)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Stop(context.WithoutCancel(ctx))) }()
	switch _, err := to.js.Stream(ctx, g.Founded); {
	case err == nil:
		return errFounded
	case !errors.Is(err, jetstream.ErrStreamNotFound):
		return fmt.Errorf("ask whether the cluster has a log: %w", err)
	}
	var streams []*jetstream.StreamInfo
	list := from.js.ListStreams(ctx)
	for info := range list.Info() {
		streams = append(streams, info)
	}
	if err := list.Err(); err != nil {
		return fmt.Errorf("list the streams of the service: %w", err)
	}
	for _, stream := range streams {
		if err := to.receive(ctx, from, stream); err != nil {
			return err
		}
		g.Moved(stream.Config.Name, stream.State.Msgs, len(streams))
	}
	return nil
}

// codeStreamMeant is JetStream's code for a restore of a stream that is to be on some nodes, and
// may be on none of them.
const codeStreamMeant = 10130

// errOnTheWay says that nodes do not have all of a stream yet.
var errOnTheWay = errors.New("not every node has all of it yet")

// receive takes a stream that nobody changes from another server, and returns when every node that
// is to have it has all of it.
func (n *NATS) receive(ctx context.Context, from *NATS, stream *jetstream.StreamInfo) error {
	name := stream.Config.Name
	asked, told := time.Now(), time.Now()
	for {
		err := n.tryReceive(ctx, from, stream)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, errOnTheWay), errors.Is(err, ErrCopyIncomplete): // messages have grown too old
			asked = time.Now()
		case !isUnsettled(err):
			return err
		case time.Since(asked) > leaderPatience:
			// A node died while it made the stream, and nobody goes on with that.
			asked = time.Now()
			if err := n.drop(ctx, name); err != nil && !isUnsettled(err) {
				return err
			}
		}
		if time.Since(told) > quorumTell {
			told = time.Now()
			n.cfg.Logger.Warn("the other nodes do not have the stream yet: do they run, and have they room for it?", "stream", name, "error", err)
		}
		if !background.Wait(ctx, quorumPause) {
			return fmt.Errorf("the stream %s: %w", name, err)
		}
	}
}

func (n *NATS) tryReceive(ctx context.Context, from *NATS, stream *jetstream.StreamInfo) error {
	asking, cancel := context.WithTimeout(ctx, quorumAsk)
	defer cancel()
	there, err := n.js.Stream(asking, stream.Config.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		err := n.bring(ctx, from, stream)
		if refused, ok := errors.AsType[*server.ApiError](err); ok && refused.ErrCode == codeStreamMeant { // an earlier try was killed
			return errors.Join(n.drop(ctx, stream.Config.Name), errOnTheWay)
		}
		return err
	}
	if err != nil {
		return fmt.Errorf("ask for the stream %s: %w", stream.Config.Name, err)
	}
	info := there.CachedInfo()
	if info.State.LastSeq != stream.State.LastSeq { // an earlier try did not end
		return errors.Join(n.drop(ctx, stream.Config.Name), errOnTheWay)
	}
	if info.Cluster == nil || len(info.Cluster.Replicas) != info.Config.Replicas-1 {
		return errOnTheWay
	}
	for _, replica := range info.Cluster.Replicas {
		if !replica.Current || replica.Offline || replica.Lag > 0 {
			return errOnTheWay
		}
	}
	return nil
}

func (n *NATS) drop(ctx context.Context, stream string) error {
	ctx, cancel := context.WithTimeout(ctx, quorumAsk)
	defer cancel()
	if err := n.js.DeleteStream(ctx, stream); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("remove the stream %s: %w", stream, err)
	}
	return nil
}

// bring copies a stream from the other server.
func (n *NATS) bring(ctx context.Context, from *NATS, stream *jetstream.StreamInfo) error {
	config := stream.Config
	if !strings.HasPrefix(config.Name, bucketStream) { // nobody asks when a bucket was made
		config.Metadata = made.Keep(stream.Created, config.Metadata)
	}
	text, err := json.Marshal(config)
	if err != nil {
		return err
	}
	read, write := io.Pipe()
	copied := make(chan error, 1)
	go func() { // ends with the pipe
		_, err := from.CopyStream(ctx, config.Name, write)
		_ = write.CloseWithError(err) // never fails
		copied <- err
	}()
	err = n.PutStream(ctx, StreamCopy{Name: config.Name, Config: text, Last: stream.State.LastSeq}, read)
	_ = read.CloseWithError(err) // never fails
	if broken := <-copied; broken != nil && err == nil {
		return broken
	}
	if err != nil {
		return err
	}
	return errOnTheWay // to the other nodes
}
