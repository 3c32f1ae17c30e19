package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/errata-log/errata/ops"
	"github.com/errata-log/errata/projector"
)

// replayPath is the route that replays the log, and says how far the replay is.
const replayPath = "/api/v1/admin/ops/replay"

const replayHelp = `Makes the records anew from the log, in tables beside the live ones, compares
both and puts the new ones in their place. The list stays up all the while, and
events are taken; only for the last stretch do they wait to be shown.

If the records that the log gives are not those that are shown, the command
prints where they differ, leaves everything as it was and ends with an error.
With --force those of the log are taken all the same.`

func newReplay(t *terminal) *cobra.Command {
	var force bool
	cmd := keyCommand(t, &cobra.Command{
		Use:   "replay",
		Short: "Make the records anew from the log of the running service",
		Long:  replayHelp,
	}, func(cmd *cobra.Command, c *client, _ []string) error {
		done := showReplay(c, cmd.ErrOrStderr())
		patient := *c
		patient.http.Timeout = 0 // the service says when it ends
		var result projector.Comparison
		err := patient.call(cmd.Context(), http.MethodPost, replayPath, map[string]bool{"force": force}, &result)
		done()
		// One that differs is refused, with the comparison as details.
		refused, _ := errors.AsType[*apiError](err)
		if err != nil && (refused == nil || refused.Details == nil || json.Unmarshal(refused.Details, &result) != nil) {
			return fmt.Errorf("replay: %w", err)
		}
		return errors.Join(show(cmd, result, printReplay), err)
	})
	cmd.Flags().BoolVar(&force, "force", false, "Take the records of the log also where they differ from those that are shown.")
	addJSON(cmd, "Print one JSON object.")
	return cmd
}

func printReplay(w io.Writer, r projector.Comparison) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\tlive\tfrom the log")
	for _, row := range []struct {
		name       string
		live, then any
	}{
		{"last fact", r.Live.Checkpoint, r.Rebuilt.Checkpoint},
		{"records", r.Live.Records, r.Rebuilt.Records},
		{"sum of counts", r.Live.Count, r.Rebuilt.Count},
		{"payloads", r.Live.Payloads, r.Rebuilt.Payloads},
		{"sum of hours", r.Live.Hours, r.Rebuilt.Hours},
		{"sum of deployments", r.Live.Deployed, r.Rebuilt.Deployed},
		{"occurrences", r.Live.Occurred, r.Rebuilt.Occurred},
		{"checksum of records", r.Live.RecordsChecksum, r.Rebuilt.RecordsChecksum},
		{"checksum of payloads", r.Live.PayloadsChecksum, r.Rebuilt.PayloadsChecksum},
		{"checksum of hours", r.Live.HoursChecksum, r.Rebuilt.HoursChecksum},
		{"checksum of deployments", r.Live.DeploymentsChecksum, r.Rebuilt.DeploymentsChecksum},
		{"checksum of occurrences", r.Live.OccurrencesChecksum, r.Rebuilt.OccurrencesChecksum},
	} {
		fmt.Fprintf(table, "%s\t%v\t%v\n", row.name, row.live, row.then)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	took := time.Duration(r.TookMS) * time.Millisecond
	var text strings.Builder
	fmt.Fprintf(&text, "read %d facts from %d on, counted %d events, in %v; new events waited %v\n",
		r.Facts, r.From, r.Events, took, time.Duration(r.PausedMS)*time.Millisecond)
	switch {
	case r.Swapped && len(r.Differences) == 0 && r.Outdated:
		text.WriteString("both are the same; levels were not compared, because an older version took them from the first event; the rebuilt records are shown now\n")
	case r.Swapped && len(r.Differences) == 0:
		text.WriteString("both are the same; the rebuilt records are shown now\n")
	case r.Swapped:
		text.WriteString("they differ; the records of the log are shown now\n")
	default:
		text.WriteString("they differ; everything is as it was\n")
	}
	for _, difference := range r.Differences {
		text.WriteString("  " + difference + "\n")
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// showReplay draws a bar on a terminal until done is called. It draws nothing when w is
// no terminal.
func showReplay(c *client, w io.Writer) (done func()) {
	bar := progressbar.NewOptions64(1, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription("facts"), progressbar.OptionSetWidth(30))
	return draw(w, func(ctx context.Context) {
		var p ops.ReplayProgress
		if c.call(ctx, http.MethodGet, replayPath, nil, &p) == nil && p.Running && p.Target > 0 {
			bar.ChangeMax64(int64(p.Target))
			_ = bar.Set64(int64(min(p.Sequence, p.Target)))
		}
	}, func() { fmt.Fprintln(w) })
}
