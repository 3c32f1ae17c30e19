package main

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"
)

// erasePath is the route that erases persons.
const erasePath = "/api/v1/admin/ops/erase"

const eraseHelp = `Takes persons out of the records of the running service, for good: records of
whose first sighting they are lose user, address and context, and an address
goes from all texts that mention it. Counts stay. It is a fact on the log, so
that a replay does the same.

Events from before stand on the log until it is cut, which its size decides.
With --cut-log it is cut now: a replay then begins at a snapshot of the records,
and events that are sent again from before count again.

The logs of modules and queries keep their entries for the days that are set.`

func newErase(t *terminal) *cobra.Command {
	var wanted struct {
		Users     []string `json:"users"`
		Addresses []string `json:"addresses"`
		CutLog    bool     `json:"cut_log"`
	}
	cmd := keyCommand(t, &cobra.Command{
		Use:   "erase [--user USER]... [--ip ADDRESS]...",
		Short: "Take persons out of the records for good",
		Long:  eraseHelp,
		Args:  cobra.NoArgs,
	}, func(cmd *cobra.Command, c *client, _ []string) error {
		if len(wanted.Users)+len(wanted.Addresses) == 0 {
			return usagef("erase: %w", errors.New("name somebody with --user or --ip"))
		}
		patient := *c
		patient.http.Timeout = 0 // the service says when it ends
		var done struct {
			Count  uint64 `json:"count"`
			LogCut bool   `json:"log_cut"`
		}
		if err := patient.call(cmd.Context(), http.MethodPost, erasePath, wanted, &done); err != nil {
			return fmt.Errorf("erase: %w", err)
		}
		log := "events from before stand on the log until it is cut (--cut-log)"
		if done.LogCut {
			log = "the log begins behind it"
		}
		records := "1 record"
		if done.Count != 1 {
			records = fmt.Sprintf("%d records", done.Count)
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "erased from %s; %s\n", records, log)
		return err
	})
	cmd.Flags().StringArrayVar(&wanted.Users, "user", nil, "A `user` as applications name it; may be given again.")
	cmd.Flags().StringArrayVar(&wanted.Addresses, "ip", nil, "An IP `address`; may be given again.")
	cmd.Flags().BoolVar(&wanted.CutLog, "cut-log", false, "Cut the log behind the erasure.")
	return cmd
}
