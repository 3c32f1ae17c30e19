package main

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
)

// leavePath is the route that takes a node out of the cluster.
const leavePath = "/api/v1/admin/ops/nodes/leave"

const clusterLeaveHelp = `Takes a node out of the cluster for good. NODE is its address, as errata cluster status
shows it. The others do not count it for a majority any more, do not wait for it before
they purge the log, and do not show it; streams that stood on it get another node, if
there is one. To take a node away for a while, stop it: nothing else has to be done.

Ask another node than the one that leaves. A node that runs leaves with --running: it
hands over what it leads and stops by itself. The command is refused where the cluster
would lose its majority, where a stream needs the node, and for one of the last two.

The data folder of the node stays as it is, and starts no node any more. A node that
comes back under the same address begins with an empty folder. Events in the spool of a
node that is dead (cluster-ack spool) are on its disk only: if that is whole, start the
node once more before it leaves.`

func newClusterLeave(t *terminal) *cobra.Command {
	var running bool
	cmd := keyCommand(t, &cobra.Command{
		Use:   "leave NODE",
		Short: "Take a node out of the cluster for good",
		Long:  clusterLeaveHelp,
		Args:  cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, c *client, args []string) error {
		patient := *c
		patient.http.Timeout = 0 // the service says when it ends
		var done struct {
			Node  string   `json:"node"`
			Nodes []string `json:"nodes"`
		}
		if err := patient.call(cmd.Context(), http.MethodPost, leavePath, map[string]any{"node": args[0], "running": running}, &done); err != nil {
			return fmt.Errorf("cluster leave: %w", err)
		}
		_, err := fmt.Fprint(cmd.OutOrStdout(), afterLeave(done.Node, done.Nodes))
		return err
	})
	cmd.Flags().BoolVar(&running, "running", false, "The node may run; it stops by itself.")
	return cmd
}

// afterLeave says what to do next.
func afterLeave(node string, left []string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s has left the cluster; the nodes are %s\n", printable(node), printable(strings.Join(left, ", ")))
	fmt.Fprintf(&text, "- On %s: disable the service. Its data folder starts no node any more; remove it when you need nothing of it.\n", printable(node))
	switch len(left) {
	case 3:
		text.WriteString("- On the others: when they start again, ERRATA_CLUSTER_PEERS may be these three.\n")
	case 2:
		text.WriteString("- On the others: no further node may fail. Start a new one soon, with its address in the place of the one that left,\n" +
			"  at the end of ERRATA_CLUSTER_PEERS, and then start the others again with the same list, one after the other.\n")
	default:
		text.WriteString("- On the others: ERRATA_CLUSTER_PEERS stays as it is until a new node takes the place in it, or another one leaves; nobody waits for that address.\n")
	}
	return text.String()
}
