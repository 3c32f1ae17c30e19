package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"
)

// alertChange changes rules or channels by their ids.
type alertChange struct {
	verb, alias, done string
	short             string // %s is what is changed
	method            string
	body              any
}

var alertChanges = []alertChange{
	{verb: "enable", done: "enabled", short: "Switch %s on", method: http.MethodPatch, body: map[string]bool{"enabled": true}},
	{verb: "disable", done: "disabled", short: "Switch %s off, and keep them", method: http.MethodPatch, body: map[string]bool{"enabled": false}},
	{verb: "delete", alias: "rm", done: "deleted", short: "Delete %s for good", method: http.MethodDelete},
}

// newAlertsChanges are the commands that change what the route lists.
func newAlertsChanges(t *terminal, name string) (all []*cobra.Command) {
	for _, change := range alertChanges {
		cmd := keyCommand(t, &cobra.Command{
			Use:   change.verb + " ID...",
			Short: fmt.Sprintf(change.short, name),
			Args:  cobra.MinimumNArgs(1),
		}, func(cmd *cobra.Command, c *client, ids []string) error { return change.run(cmd, c, name, ids) })
		if change.alias != "" {
			cmd.Aliases = []string{change.alias}
		}
		cmd.ValidArgsFunction = completeAlerts(t, "/"+name)
		addJSON(cmd, "Print one JSON array of what the API answers for each.")
		all = append(all, cmd)
	}
	return all
}

// run changes one after the other and prints what it did, also when it could not do all.
func (change alertChange) run(cmd *cobra.Command, c *client, name string, ids []string) error {
	answers := []json.RawMessage{}
	var failed error
	for _, id := range ids {
		var answer json.RawMessage
		if failed = c.call(cmd.Context(), change.method, alertsPath+"/"+name+"/"+url.PathEscape(id), change.body, &answer); failed != nil {
			failed = fmt.Errorf("%s %s: %w", change.verb, printed(id), failed)
			break
		}
		answers = append(answers, answer)
	}
	return errors.Join(show(cmd, answers, func(out io.Writer, answers []json.RawMessage) error {
		for i := range answers {
			if _, err := fmt.Fprintf(out, "%s %s\n", change.done, printed(ids[i])); err != nil {
				return err
			}
		}
		return nil
	}), failed)
}
