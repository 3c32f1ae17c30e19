package main

import (
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/errata-log/errata/app"
)

const clusterHelp = `A cluster is errata serve on three or five machines, with the same four settings on
each; nothing else has to be done to join. docs/operations.md, "Three machines", has
the settings.`

func newCluster(t *terminal) *cobra.Command {
	return group("cluster", "Grow from one machine to three", clusterHelp, newClusterInit(t))
}

const clusterInitHelp = `Takes the log of a service of its own into a cluster, whose first node that service
becomes. Everything stays as it was: events, records, keys, settings, alerts.

  systemctl stop errata             on the old machine
  errata serve                      on the others: empty folders, settings of the cluster
  errata cluster init               on the old machine, with the settings of the cluster
  errata serve                      there as well

The old machine must be the first of --cluster-peers, on all nodes. The others wait
until it has started as a node. Run the command as the user of the service.

The command copies all streams of DATA/nats to the other nodes. The old files stay in
DATA/nats.alone until these have everything, so there must be room for the log three
times. Whatever interrupts the command, run it again: it goes on with what is missing.
Until it has ended, no service starts on the folder.`

func newClusterInit(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Take the log of a stopped service into a new cluster",
		Long:  clusterInitHelp,
		RunE: configured(t, func(cmd *cobra.Command, c *config, _ []string) error {
			c.service.Logger = newLogger(cmd.ErrOrStderr(), slog.LevelWarn, "auto")
			out, done := cmd.OutOrStdout(), 0
			err := app.InitCluster(cmd.Context(), c.service, func(stream string, messages uint64, of int) {
				done++
				fmt.Fprintf(out, "%d of %d: %s, %d messages\n", done, of, printable(stream), messages)
			})
			if err != nil {
				return fmt.Errorf("cluster init: %w", err)
			}
			_, err = fmt.Fprintf(out, "the cluster %s has the log; start this node: errata serve --data %s\n", printable(c.service.Cluster.Name), printed(c.service.Data))
			return err
		}),
	}
	addSettings(cmd, "data", "log-max-bytes", "cluster-name", "cluster-listen", "cluster-peers", "cluster-secret", "cluster-node")
	return cmd
}
