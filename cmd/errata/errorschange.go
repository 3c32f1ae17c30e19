package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// changePatience bounds a change, which the service answers when every node shows it.
const changePatience = 2 * time.Minute

// errorChange is a change of records, each by a command of its own: signatures alone
// would change the records of both books.
type errorChange struct {
	verb, done   string
	method, path string
	status       string // "" for a delete
	ask          bool
}

// changedRecord is what a change did to a record.
type changedRecord struct {
	Signature string `json:"signature"`
	Type      string `json:"type"`
	Done      string `json:"done"`  // resolved, muted or deleted
	Count     uint64 `json:"count"` // 0 when the record was gone
	what      string
}

var (
	resolveErrors = errorChange{verb: "resolve", done: "resolved", method: http.MethodPost, path: errorsPath + "/status", status: "resolved"}
	muteErrors    = errorChange{verb: "mute", done: "muted", method: http.MethodPost, path: errorsPath + "/status", status: "muted"}
	deleteErrors  = errorChange{verb: "delete", done: "deleted", method: http.MethodDelete, path: errorsPath, ask: true}
)

func newErrorsChange(t *terminal, change errorChange, short, long string) *cobra.Command {
	var yes bool
	cmd := keyCommand(t, &cobra.Command{
		Use:   change.verb + " ERROR...",
		Short: short,
		Long:  long,
		Args:  cobra.MinimumNArgs(1),
	}, func(cmd *cobra.Command, c *client, names []string) error {
		patient := *c
		patient.http.Timeout = changePatience
		records, err := patient.findAll(cmd.Context(), names)
		if err != nil {
			return fmt.Errorf("%s: %w", change.verb, err)
		}
		if change.ask && !yes {
			if err := confirm(cmd.InOrStdin(), cmd.ErrOrStderr(), change.verb, records); err != nil {
				return err
			}
		}
		return change.run(cmd, &patient, records)
	})
	cmd.ValidArgsFunction = completeErrors(t)
	if change.ask {
		cmd.Flags().BoolVarP(&yes, "yes", "y", false, "Do not ask.")
	}
	addJSON(cmd, "Print one JSON array.")
	return cmd
}

// run changes the records and prints what it did, also when it could not do all.
func (change errorChange) run(cmd *cobra.Command, c *client, records []apiRecord) error {
	all := []changedRecord{}
	var failed error
	for _, r := range records {
		body := map[string]any{"filter": map[string]string{"signature": r.Signature, "types": r.Type}}
		if change.status != "" {
			body["status"] = change.status
		}
		changed := changedRecord{Signature: r.Signature, Type: r.Type, Done: change.done, what: r.what()}
		if err := c.call(cmd.Context(), change.method, change.path, body, &changed); err != nil {
			failed = fmt.Errorf("%s %s: %w", change.verb, printed(r.name()), err)
			break
		}
		all = append(all, changed)
	}
	return errors.Join(show(cmd, all, printChanged), failed)
}

func printChanged(w io.Writer, all []changedRecord) error {
	var text strings.Builder
	for _, r := range all {
		done := r.Done
		if r.Count == 0 {
			done = "gone"
		}
		text.WriteString(printed(fmt.Sprintf("%s %s/%s  %s", done, r.Type, r.Signature, r.what)) + "\n")
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// findAll finds the records that have the names, each once. It finds all before anything
// changes.
func (c *client) findAll(ctx context.Context, names []string) ([]apiRecord, error) {
	var all []apiRecord
	for _, name := range names {
		r, err := c.find(ctx, name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(all, func(other apiRecord) bool { return other.name() == r.name() }) {
			all = append(all, r)
		}
	}
	return all, nil
}

// confirm shows the records and asks. Anything but yes is a no.
func confirm(in io.Reader, about io.Writer, verb string, records []apiRecord) error {
	var text strings.Builder
	for _, r := range records {
		text.WriteString("  " + printed(fmt.Sprintf("%s  %s, count %d", r.name(), r.what(), r.Count)) + "\n")
	}
	if _, err := fmt.Fprintf(about, "%s%s for good? [y/N] ", text.String(), verb); err != nil {
		return err
	}
	answer, _ := bufio.NewReader(in).ReadString('\n') // what ends early is a no
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	default:
		return fmt.Errorf("%s: nothing was changed; --yes does not ask", verb)
	}
}

const errorsResolveHelp = `Marks errors as resolved. One that is seen again becomes open and "regressed".

  errata errors resolve system/0123456789ab database/fedc`

const errorsMuteHelp = `Mutes errors: they go on counting, and lists without noise leave them out.`

const errorsDeleteHelp = `Deletes errors for good, with their occurrences. It asks unless --yes is given. One
that is seen again begins anew, at count 1.`
