package app

import (
	"context"
	"fmt"

	"github.com/errata-log/errata/alerts/service"
	"github.com/errata-log/errata/cluster"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/exchange"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/signin/challenge"
)

// sharedSecrets are those that the founder gives to all nodes. Each is one message of the
// bucket, for which the others wait: a founder may bring secrets along.
var sharedSecrets = []string{challenge.SecretFile, service.SecretFile}

// admitNode ends the start of a node that has left its cluster. One that comes again with an empty
// folder may have to wait.
func (a *App) admitNode(ctx context.Context) error {
	if !a.options.Cluster.On() {
		return nil
	}
	left, err := cluster.Admit(ctx, a.engines.JetStream(), migrations.ClusterBucket(a.options.Namespace), a.engines.NATS.Self(), a.engines)
	if err == nil && left {
		err = engine.ErrLeft
	}
	if err != nil {
		return err
	}
	return a.engines.NATS.AwaitCounted(ctx)
}

// joinCluster gives this node the secrets of its cluster, and begins to listen to the other
// nodes.
func (a *App) joinCluster(ctx context.Context) error {
	o := a.options.Cluster
	if !o.On() {
		return nil
	}
	log := a.stream()
	bucket, err := log.JetStream.KeyValue(ctx, migrations.ClusterBucket(a.options.Namespace))
	if err != nil {
		return fmt.Errorf("open the bucket of the cluster: %w", err)
	}
	if err := cluster.ShareSecrets(ctx, bucket, o.Secret, a.dir.Path(), sharedSecrets...); err != nil {
		return err
	}
	a.cluster, err = cluster.Open(cluster.Config{
		NATS: log.NATS, Prefix: log.Prefix, Self: log.Node, Peers: o.Peers, About: a.aboutNode, Now: a.options.Now, Logger: a.logger,
		Leader: func(ctx context.Context) (string, error) { return a.engines.NATS.Leader(ctx, log.Stream) },
		Bucket: bucket, Servers: engine.Leaving{NATS: a.engines.NATS, Spool: a.spoolOf},
		Note: func(ctx context.Context, id string, body any) error {
			return eventlog.AppendNote(ctx, log, eventlog.NoteNodeLeft, id, body)
		},
	})
	if err == nil {
		a.cleanups.AddPlain("cluster", a.cluster.Stop)
	}
	return err
}

// startMembers begins to tell the other nodes how far this one is.
func (a *App) startMembers(context.Context) error {
	a.cluster.Start()
	return nil
}

// spoolOf names the spool of a node.
func (a *App) spoolOf(node string) string {
	stream, _ := migrations.NodeSpool(a.options.Namespace, node)
	return stream
}

// spool is where events go while the log has no leader, nil without a cluster.
func (a *App) spool() *eventlog.Log {
	if !a.options.Cluster.Spools() {
		return nil
	}
	log := a.stream()
	log.Stream, log.Prefix = migrations.NodeSpool(a.options.Namespace, log.Node)
	return &log
}

// openSpool makes the spool, and begins to move what is in it to the log.
func (a *App) openSpool(ctx context.Context) error {
	spool, js := a.spool(), a.engines.JetStream()
	if spool == nil {
		return nil
	}
	if err := migrations.MakeNodeSpool(ctx, js, a.options.Namespace, spool.Node, a.engines.NATS.Tag(), engine.SpoolRoom); err != nil {
		return err
	}
	drain := eventlog.StartSpoolDrain(eventlog.DrainConfig{
		Log: a.stream(), JetStream: js, Stream: spool.Stream, Name: spool.Stream, Kept: a.imports, Reader: "drain",
		Take: eventlog.TakeBlocks(a.options.Now), Logger: a.logger, Skipped: a.strays.In("log"),
	}, a.cluster.Left())
	a.cleanups.Add("spool", drain.Stop)
	return nil
}

// aboutNode is what this node says. It must not wait for anything: a node that says nothing
// counts as away.
func (a *App) aboutNode() (m cluster.Member) {
	status := a.projector.Status()
	m.Version, m.Folded, m.Lag = a.options.Version, status.Checkpoint.Sequence, status.Lag
	m.Free, _, _ = a.engines.DiskRoom() // 0 where nobody knows
	m.Doing = a.tables.Doing()
	// Until the records have caught up, the tables of another node may take the place of these.
	if a.records.Up() && a.caughtUp.Err() == nil {
		m.Modules, m.Queries = a.exchangeWriter.Next(exchange.Modules), a.exchangeWriter.Next(exchange.Queries)
	}
	return m
}

// keepExchanges is the first message of the module or query log that a node still needs.
func (a *App) keepExchanges(log exchange.Log, next uint64, urgent bool) uint64 {
	return a.cluster.Lowest(next, urgent, func(p cluster.Position) uint64 {
		if log == exchange.Modules {
			return p.Modules
		}
		return p.Queries
	})
}
