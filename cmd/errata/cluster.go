package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/app"
)

const clusterHelp = `A cluster is errata serve on three or five machines, with the same four settings on
each. A node joins when it is started with them, so there is no command for that.
docs/operations.md, "Three machines", has the settings.`

func newCluster(t *terminal) *cobra.Command {
	return group("cluster", "Show the nodes of a cluster, grow from one machine to three, or take a node out", clusterHelp, newClusterStatus(t), newClusterInit(t), newClusterLeave(t))
}

const clusterStatusHelp = `Lists the nodes of the cluster: who leads the log, how far the records of each are
behind it, what its disk has left, and since when a node is away. The running service
is asked, on any node; away and lag are what that node sees. errata doctor says what
to do.`

var nodeColumns = []column{
	{name: "NODE"}, {name: "ROLE"}, {name: "VERSION", least: 8, leave: 2}, {name: "POSITION", right: true}, {name: "LAG", right: true},
	{name: "DISK FREE", right: true, leave: 1}, {name: "AWAY SINCE"},
}

func newClusterStatus(t *terminal) *cobra.Command {
	cmd := keyCommand(t, &cobra.Command{
		Use: "status", Short: "List the nodes of the cluster", Long: clusterStatusHelp,
	}, func(cmd *cobra.Command, c *client, _ []string) error {
		var status struct {
			Nodes []errata.Node `json:"nodes"`
		}
		if err := c.call(cmd.Context(), http.MethodGet, "/api/v1/admin/ops/status", nil, &status); err != nil {
			return fmt.Errorf("ask for the nodes: %w", err)
		}
		if len(status.Nodes) == 0 {
			return errors.New("the service is one of its own and in no cluster")
		}
		return show(cmd, status.Nodes, func(w io.Writer, nodes []errata.Node) error { return printNodes(w, t.width(), nodes) })
	})
	addJSON(cmd, "Print one JSON array, as the API answers it.")
	return cmd
}

func printNodes(w io.Writer, width int, nodes []errata.Node) error {
	rows := make([][]string, len(nodes))
	for i, n := range nodes {
		name, away := n.Name, "-"
		if n.Self {
			name += " (asked)"
		}
		if at := time.Time(n.Away); !at.IsZero() {
			away = at.UTC().Format(time.RFC3339)
		}
		lag := (time.Duration(n.LagMS) * time.Millisecond).String()
		rows[i] = []string{name, n.Role, cmp.Or(n.Version, "-"), strconv.FormatUint(n.Position, 10), lag, roundSize(n.Free), away}
	}
	return printTable(w, width, nodeColumns, rows)
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
