package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/logcare"
)

// logPath is the route of the log.
const logPath = "/api/v1/admin/ops/log"

const logHelp = `Checks the log for what a damaged disk has taken, mends it from a copy, and says
what is to become of what cannot be mended.`

// logCommand gives a command the settings that say where the log is, and the flags
// for a running service.
func logCommand(t *terminal, cmd *cobra.Command, do func(cmd *cobra.Command, c *config, _ []string) error) *cobra.Command {
	addSettings(cmd, "data", "listen", "tls-ca", "nats-url")
	addURL(cmd)
	addKey(cmd)
	cmd.RunE = configured(t, do)
	return cmd
}

func newLog(t *terminal) *cobra.Command {
	return group("log", "Check and mend the log", logHelp,
		newLogVerify(t), newLogAccept(t), newLogRepair(t))
}

// gapText describes a gap.
func gapText(g logcare.Gap) string {
	text := fmt.Sprintf("facts %d to %d are %s", g.From, g.To, g.Why)
	if g.Why == "older" {
		text = fmt.Sprintf("facts %d to %d were lost from the end of the log", g.From, g.To)
	}
	if g.Files != "" {
		text += " (" + g.Files + ")"
	}
	switch {
	case g.LeastEvents == g.MostEvents && g.MostEvents == 1:
		text += ": 1 event"
	case g.LeastEvents == g.MostEvents:
		text += fmt.Sprintf(": %d events", g.MostEvents)
	default:
		text += fmt.Sprintf(": %d to %d events", g.LeastEvents, g.MostEvents)
	}
	if g.Others > 0 {
		text += "; deletes and settings may be among them"
	}
	switch g.By {
	case "operator":
		text += "; accepted by " + printable(g.Name)
	case "policy":
		text += "; nobody has accepted that yet"
	}
	return text
}

const logVerifyHelp = `Reads every fact of the log: that it is there, that its bytes have their checksum,
and that it can be decoded. Prints what is gone, and ends with 1 when anything is
that nobody has accepted.

  errata log verify            asks the running service
  errata log verify --stopped  reads the files in DATA/nats while no service runs,
                               and changes nothing in them`

func newLogVerify(t *terminal) *cobra.Command {
	var stopped bool
	cmd := logCommand(t, &cobra.Command{
		Use:   "verify",
		Short: "Check every fact of the log",
		Long:  logVerifyHelp,
	}, func(cmd *cobra.Command, c *config, _ []string) error {
		report, err := verifyLog(cmd, t, c, stopped)
		if err != nil {
			return fmt.Errorf("check the log: %w", err)
		}
		if err := printLogReport(cmd.OutOrStdout(), report); err != nil {
			return err
		}
		if slices.ContainsFunc(report.Gaps, func(g logcare.Gap) bool { return g.By != "operator" }) {
			return errors.New("the log lacks facts; errata log repair brings them back from a copy, errata log accept goes on without them")
		}
		return nil
	})
	cmd.Flags().BoolVar(&stopped, "stopped", false, "Read the files in DATA/nats; the service must not run.")
	return cmd
}

func verifyLog(cmd *cobra.Command, t *terminal, c *config, stopped bool) (report logcare.Report, err error) {
	if stopped {
		dir, log, err := app.OpenStoppedLog(c.service)
		if err != nil {
			return report, err
		}
		defer dir.Close()
		return log.Verify()
	}
	service, err := keyClient(cmd, t, c)
	if err != nil {
		return report, err
	}
	service.http.Timeout = 0 // the service says when it ends
	return report, service.call(cmd.Context(), http.MethodPost, logPath+"/verify", nil, &report)
}

func printLogReport(w io.Writer, r logcare.Report) error {
	var text strings.Builder
	fmt.Fprintf(&text, "facts %d to %d: %d are good, with %d events in %d bytes\n", r.First, r.Last, r.Facts, r.Events, r.Bytes)
	for _, g := range r.Gaps {
		text.WriteString("  " + gapText(g) + "\n")
	}
	_, err := io.WriteString(w, text.String())
	return err
}

const logAcceptHelp = `Accepts what the log has lost, in your name: a fact on the log says so from now
on. The alarm ends, and where log-gaps is stop, new events are shown again.

Where facts in the middle of the log are gone, records made before the damage keep
them and a replay does not. Where the log ended before the records did, this keeps
the records, and a later replay would lose what only they hold.`

func newLogAccept(t *terminal) *cobra.Command {
	var by string
	cmd := keyCommand(t, &cobra.Command{
		Use:   "accept",
		Short: "Go on without what the log has lost",
		Long:  logAcceptHelp,
	}, func(cmd *cobra.Command, c *client, _ []string) error {
		if strings.TrimSpace(by) == "" {
			return usagef("say who decides: --by NAME")
		}
		var gaps []logcare.Gap
		if err := c.call(cmd.Context(), http.MethodPost, logPath+"/accept", map[string]string{"by": by}, &gaps); err != nil {
			return fmt.Errorf("accept what the log has lost: %w", err)
		}
		if len(gaps) == 0 {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "there is nothing that waits for a decision")
			return err
		}
		for _, g := range gaps {
			if _, err := fmt.Fprintln(cmd.OutOrStdout(), gapText(g)); err != nil {
				return err
			}
		}
		return nil
	})
	cmd.Flags().StringVar(&by, "by", "", "Your `name`, as it stands on the log and in the audit trail.")
	return cmd
}

//nolint:gosec // the address in the help is an example
const logRepairHelp = `Puts facts back that the log has lost, while no service runs, from copies of any
age: a folder that is a copy of DATA/nats, or a NATS server that has a copy of the
log, such as one started on a backup. What the service itself has set aside in
DATA/nats/damaged is looked at as well. Facts get their old places, and the files
as they were are kept in DATA/nats/damaged. A copy must be of the same log.

  errata log repair --from /backup/nats
  errata log repair --from nats://user:password@host:4222

A server is only asked for what is missing. nats-server -js -sd COPY starts one on a
copy of DATA/nats.

Afterwards start the service. Where records were made without the facts it says
so, and errata replay --force makes them anew. What no copy has stays gone: errata
log accept says that somebody knows.`

func newLogRepair(t *terminal) *cobra.Command {
	var from []string
	cmd := logCommand(t, &cobra.Command{
		Use:   "repair",
		Short: "Put lost facts back from a copy, while the service is stopped",
		Long:  logRepairHelp,
	}, func(cmd *cobra.Command, c *config, _ []string) error {
		dir, log, err := app.OpenStoppedLog(c.service)
		if err != nil {
			return fmt.Errorf("repair the log: %w", err)
		}
		defer dir.Close()
		restored, gone, err := log.Repair(cmd.Context(), from)
		if err != nil {
			return fmt.Errorf("repair the log: %w", err)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%d facts are back\n", restored)
		if len(gone) == 0 {
			return nil
		}
		for _, g := range gone {
			fmt.Fprintln(cmd.OutOrStdout(), "  "+gapText(g))
		}
		return errors.New("no copy has the rest; another one may, else start the service and run errata log accept")
	})
	cmd.Flags().StringArrayVar(&from, "from", nil, "`Copy` of the log: a folder like DATA/nats, or the URL of a NATS server or cluster as for --nats-url; may be given several times.")
	return cmd
}
