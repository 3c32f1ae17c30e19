package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/errata-log/errata/audit"
)

// auditPath is where the API keeps the audit trail.
const auditPath = "/api/v1/admin/audit"

const auditHelp = `Shows and checks the audit trail of the running service, through its HTTP API:
who changed what, when, and what came of it. The key needs the scope Audit/Read
and comes from --key, ERRATA_KEY, or the file of the first start.`

func newAudit(t *terminal) *cobra.Command {
	return group("audit", "Show and check who changed what", auditHelp,
		newAuditList(t), newAuditVerify(t))
}

const auditListHelp = `Lists entries of the audit trail, newest first. The table shows the beginning of
what was asked for; --json shows all of each entry, one array.

  errata audit list --action 'errors.*' --limit 100
  errata audit list --before 1200        the entries before number 1200`

func newAuditList(t *terminal) *cobra.Command {
	var (
		limit  int
		before uint64
		asJSON bool
		asked  = url.Values{}
		text   = map[string]*string{"actor": new(string), "action": new(string), "from": new(string), "to": new(string)}
	)
	cmd := keyCommand(t, &cobra.Command{
		Use:   "list",
		Short: "List entries of the audit trail, newest first",
		Long:  auditListHelp,
	}, func(cmd *cobra.Command, c *client, _ []string) error {
		asked.Set("limit", strconv.Itoa(limit))
		if before > 0 {
			asked.Set("cursor", strconv.FormatUint(before, 10))
		}
		for name, value := range text {
			if *value != "" {
				asked.Set(name, *value)
			}
		}
		var raw json.RawMessage
		if err := c.call(cmd.Context(), http.MethodGet, auditPath+"?"+asked.Encode(), nil, &raw); err != nil {
			return fmt.Errorf("list the audit trail: %w", err)
		}
		if asJSON {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", raw)
			return err
		}
		var entries []audit.Entry
		if err := json.Unmarshal(raw, &entries); err != nil {
			return fmt.Errorf("list the audit trail: %w", err)
		}
		return printAudit(cmd.OutOrStdout(), entries)
	})
	flags := cmd.Flags()
	flags.IntVar(&limit, "limit", 25, "How many `entries`, 1 to 100.")
	flags.Uint64Var(&before, "before", 0, "Only entries before this `number`; 0 begins with the newest.")
	flags.StringVar(text["actor"], "actor", "", "Only changes by the key with this `id` or name.")
	flags.StringVar(text["action"], "action", "", "Only this `action`, or those that begin so: 'errors.*'.")
	flags.StringVar(text["from"], "from", "", "Only entries from this `time` on, such as 2026-11-21T00:00:00Z.")
	flags.StringVar(text["to"], "to", "", "Only entries up to this `time`.")
	flags.BoolVar(&asJSON, "json", false, "Print one JSON array.")
	return cmd
}

// maxWhat is how many characters of a text the table shows.
const maxWhat = 60

func printAudit(w io.Writer, entries []audit.Entry) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "N\tTIME\tACTION\tBY\tIP\tWHAT")
	for _, e := range entries {
		who := printable(e.Actor.KeyID)
		if e.Actor.KeyName != "" {
			who += " " + printable(e.Actor.KeyName)
		}
		what := string(e.Request)
		if what == "" || what == "null" {
			what = string(e.After)
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\n",
			e.N, e.Time.Format(time.RFC3339Nano), printable(e.Action), cmp.Or(who, "-"), cmp.Or(printable(e.Actor.IP), "-"), printable(what))
	}
	return table.Flush() // a tabwriter keeps the first error until here
}

// printable is the text in at most maxWhat cells.
func printable(text string) string { return cutTo(printed(text), maxWhat) }

const auditVerifyHelp = `Checks every entry of the audit trail: that none was changed, cut out, exchanged
or put in. Prints how many there are and the hash of the last one; whoever keeps
that hash elsewhere can tell later that nothing before it was written anew. Ends
with 1 when the chain is broken, and names the first entry that is.`

func newAuditVerify(t *terminal) *cobra.Command {
	return keyCommand(t, &cobra.Command{
		Use:   "verify",
		Short: "Check that no entry of the audit trail was changed or removed",
		Long:  auditVerifyHelp,
	}, func(cmd *cobra.Command, c *client, _ []string) error {
		var report struct {
			OK bool `json:"ok"`
			audit.Report
		}
		if err := c.call(cmd.Context(), http.MethodGet, auditPath+"/verify", nil, &report); err != nil {
			return fmt.Errorf("check the audit trail: %w", err)
		}
		if !report.OK {
			n, reason := report.Entries+1, "the service does not say why"
			if report.Problem != nil {
				n, reason = report.Problem.N, report.Problem.Reason
			}
			return fmt.Errorf("the audit trail is broken at entry %d: %s; %d entries before it are good", n, reason, report.Entries)
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "%d entries, none changed or missing\nhash of the last one %s\n", report.Entries, cmp.Or(report.Head, "-"))
		if err == nil && report.Foreign > 0 {
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d of them were put there by somebody else, who can write to NATS; see the action audit.foreign\n", report.Foreign)
		}
		return err
	})
}
