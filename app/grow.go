package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/migrations"
)

// InitCluster takes the log of the stopped service on the data folder into a cluster whose other
// nodes run and have no log yet. Its records stay as they are, since the log stays the same. moved
// is told of each stream, how many messages it has, and how many streams there are. The error for
// a folder that a service holds is a [*datadir.InUseError].
func InitCluster(ctx context.Context, o Options, moved func(stream string, messages uint64, of int)) (err error) {
	if !o.Cluster.On() {
		return errors.New("cluster-name is empty; give the command the same settings of the cluster as the nodes")
	}
	o = o.withDefaults()
	dir, err := datadir.Open(o.Data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	growth := engine.Growth{
		Config:  engine.Config{Options: o.Options, Dir: dir, Logger: o.Logger},
		Founded: "KV_" + migrations.ClusterBucket(o.Namespace),
		Moved:   moved,
	}
	if err := growth.Run(ctx); err != nil {
		return fmt.Errorf("take the log of %s into the cluster: %w", dir.Path(), err)
	}
	return nil
}
