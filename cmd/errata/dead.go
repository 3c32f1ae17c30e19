package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// deadPath is the route of the dead letters.
const deadPath = "/api/v1/admin/ops/dead"

// deadMessage is a dead letter as the service shows it.
type deadMessage struct {
	ID      uint64 `json:"id"`
	At      string `json:"at"` // RFC 3339
	Subject string `json:"subject"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Body    string `json:"body"`
	Cut     bool   `json:"cut"`
}

const deadHelp = `Messages that applications published to NATS and that can never become events:
not JSON, too large, the wrong shape. They are kept for 30 days, at most 16 MiB,
without the secrets that were found in them.`

func newDead(t *terminal) *cobra.Command {
	return group("dead", "Messages from NATS that were refused: list, publish again, drop", deadHelp,
		newDeadList(t),
		newDeadDo(t, "replay", "replayed", "Publish refused messages again, as they are kept",
			"Publishes refused messages again, by their ids as \"errata dead list\" shows them.\nWhat is refused again becomes a new entry of the list. An event counts once,\nhowever often it is published."),
		newDeadDo(t, "drop", "dropped", "Drop refused messages for good",
			"Drops refused messages for good, by their ids as \"errata dead list\" shows them."))
}

func newDeadList(t *terminal) *cobra.Command {
	var limit int
	cmd := keyCommand(t, &cobra.Command{
		Use:   "list",
		Short: "List refused messages, oldest first",
	}, func(cmd *cobra.Command, c *client, _ []string) error {
		list, err := listDead(cmd.Context(), c, limit)
		if err != nil {
			return fmt.Errorf("list the refused messages: %w", err)
		}
		return show(cmd, list, func(out io.Writer, list []deadMessage) error { return printDead(out, t.width(), list) })
	})
	addJSON(cmd, "Print one JSON array, with the messages themselves.")
	cmd.Flags().IntVar(&limit, "limit", 100, "List at most so `many`.")
	return cmd
}

// deadPage is how many messages one request asks for.
const deadPage = 100

func listDead(ctx context.Context, c *client, limit int) ([]deadMessage, error) {
	list := []deadMessage{}
	for len(list) < limit {
		path := fmt.Sprintf("%s?limit=%d", deadPath, min(deadPage, limit-len(list)))
		if len(list) > 0 {
			path += "&cursor=" + strconv.FormatUint(list[len(list)-1].ID, 10)
		}
		var page []deadMessage
		if err := c.call(ctx, http.MethodGet, path, nil, &page); err != nil {
			return nil, err
		}
		if len(page) == 0 {
			break
		}
		list = append(list, page...)
	}
	return list, nil
}

var deadColumns = []column{
	{name: "ID"}, {name: "REFUSED", leave: 1}, {name: "SUBJECT", least: 12}, {name: "BYTES", leave: 2}, {name: "REASON"}, {name: "WHY", least: 12},
}

// printDead prints one line for each message. The body, which can be long and hold
// anything, is only shown with --json.
func printDead(w io.Writer, width int, list []deadMessage) error {
	rows := make([][]string, len(list))
	for i, m := range list {
		size := strconv.Itoa(len(m.Body))
		if m.Cut {
			size = ">" + size
		}
		at, _, _ := strings.Cut(m.At, ".")
		rows[i] = []string{strconv.FormatUint(m.ID, 10), at, m.Subject, size, m.Reason, m.Message}
	}
	return printTable(w, width, deadColumns, rows)
}

// newDeadDo is a command that changes messages, by their ids or all of them.
func newDeadDo(t *terminal, verb, done, short, long string) *cobra.Command {
	var all bool
	cmd := keyCommand(t, &cobra.Command{
		Use:   verb + " {ID...|--all}",
		Short: short,
		Long:  long,
		Args:  cobra.ArbitraryArgs,
	}, func(cmd *cobra.Command, c *client, args []string) error {
		choice := map[string]any{"all": true}
		if all == (len(args) > 0) {
			return usagef("give the ids of messages, or --all")
		}
		if !all {
			ids := make([]uint64, len(args))
			for i, text := range args {
				var err error
				if ids[i], err = strconv.ParseUint(text, 10, 64); err != nil || ids[i] == 0 {
					return usagef("%q is not the id of a message, from 1 up", text)
				}
			}
			choice = map[string]any{"ids": ids}
		}
		return doDead(cmd, c, verb, done, choice)
	})
	cmd.Flags().BoolVar(&all, "all", false, "All refused messages.")
	return cmd
}

// deadPatience bounds a change of all messages, which are at most 16 MiB.
const deadPatience = 2 * time.Minute

func doDead(cmd *cobra.Command, c *client, verb, done string, choice map[string]any) error {
	patient := *c
	patient.http.Timeout = deadPatience
	var answer map[string]json.RawMessage
	if err := patient.call(cmd.Context(), http.MethodPost, deadPath+"/"+verb, choice, &answer); err != nil {
		return fmt.Errorf("%s refused messages: %w", verb, err)
	}
	var left []struct {
		ID     uint64 `json:"id"`
		Reason string `json:"reason"`
	}
	if err := json.Unmarshal(answer["left"], &left); err != nil {
		return fmt.Errorf("the answer is not Errata's: %w", err)
	}
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", done, answer[done]); err != nil {
		return err
	}
	for _, note := range left {
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "left %d: %s\n", note.ID, printed(note.Reason)); err != nil {
			return err
		}
	}
	return nil
}
