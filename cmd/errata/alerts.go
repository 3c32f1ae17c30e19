package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// alertsPath begins the routes of alerts.
const alertsPath = "/api/v1/admin/alerts"

// apiRule is a rule as the service shows it.
type apiRule struct {
	ID      string                     `json:"id"`
	Name    string                     `json:"name"`
	Enabled bool                       `json:"enabled"`
	When    map[string]json.RawMessage `json:"when"`
	To      []string                   `json:"to"`
}

// apiChannel is a channel as the service shows it.
type apiChannel struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Kind      string   `json:"kind"`
	Enabled   bool     `json:"enabled"`
	URL       string   `json:"url"`
	Chat      string   `json:"chat"`
	Addresses []string `json:"addresses"`
}

// where says where the messages of the channel go.
func (c apiChannel) where() string {
	return cmp.Or(c.Chat, c.URL, strings.Join(c.Addresses, ", "), "-")
}

// apiTried is what came of one attempt to send.
type apiTried struct {
	At     string `json:"at"` // RFC 3339
	OK     bool   `json:"ok"`
	Status int    `json:"status"`
	Answer string `json:"answer"`
	Error  string `json:"error"`
}

// apiDelivery is a delivery as the service shows it.
type apiDelivery struct {
	Rule        string     `json:"rule"`
	RuleName    string     `json:"rule_name"`
	Channel     string     `json:"channel"`
	ChannelName string     `json:"channel_name"`
	Made        string     `json:"made"` // RFC 3339
	Subject     string     `json:"subject"`
	State       string     `json:"state"`
	Tries       int        `json:"tries"`
	Last        []apiTried `json:"last"`
}

// why is the reason why the delivery has not arrived, "" when it has.
func (d apiDelivery) why() string {
	if len(d.Last) == 0 {
		return ""
	}
	return d.Last[len(d.Last)-1].Error
}

const alertsHelp = `Lists, makes and changes the rules and channels of alerts of the running service,
lists deliveries and tests channels, through its HTTP API. A rule says which errors
are told, a channel where a message goes:

  channel=$(errata alerts channels create "On call" \
    --kind email --addresses oncall@example.com)
  errata alerts test "$channel"
  errata alerts rules create "In production" \
    --environments production --new --regressed --to "$channel"

The admin key comes from --key, ERRATA_KEY, or the file of the first start. Times are
UTC. docs/alerts.md says more.`

func newAlerts(t *terminal) *cobra.Command {
	return group("alerts", "List, make and change rules and channels of alerts", alertsHelp,
		newAlertsList(t, "rules", "List the rules that say which errors are told, or change them", printRules, newRulesCreate(t)),
		newAlertsList(t, "channels", "List the channels where messages go, or change them", printChannels, newChannelsCreate(t)),
		newAlertsDeliveries(t), newAlertsTest(t))
}

// newAlertsList is a command that lists rules or channels, whose route has its name, and
// has those that change them below it.
func newAlertsList[T any](t *terminal, name, short string, print func(io.Writer, int, []T) error, create *cobra.Command) *cobra.Command {
	cmd := keyCommand(t, &cobra.Command{Use: name, Short: short}, func(cmd *cobra.Command, c *client, _ []string) error {
		return listAlerts(cmd, t, c, name, "/"+name, print)
	})
	addJSON(cmd, "Print one JSON array, as the API answers it.")
	cmd.AddCommand(append(newAlertsChanges(t, name), create)...)
	return cmd
}

// listAlerts prints what the route answers: as it is, or as a table.
func listAlerts[T any](cmd *cobra.Command, t *terminal, c *client, what, route string, print func(io.Writer, int, []T) error) error {
	var whole json.RawMessage
	err := c.call(cmd.Context(), http.MethodGet, alertsPath+route, nil, &whole)
	var all []T
	if err == nil {
		err = json.Unmarshal(whole, &all)
	}
	if err != nil {
		return fmt.Errorf("list the %s of alerts: %w", what, err)
	}
	return show(cmd, whole, func(out io.Writer, _ json.RawMessage) error { return print(out, t.width(), all) })
}

var ruleColumns = []column{
	{name: "RULE"}, {name: "STATE"}, {name: "WHEN", least: 12, leave: 1}, {name: "CHANNELS", right: true, leave: 2}, {name: "NAME", least: 12},
}

func printRules(w io.Writer, width int, all []apiRule) error {
	rows := make([][]string, len(all))
	for i, r := range all {
		rows[i] = []string{r.ID, onOff(r.Enabled), r.when(), strconv.Itoa(len(r.To)), r.Name}
	}
	return printTable(w, width, ruleColumns, rows)
}

// when names what fires the rule, in the order of the documentation; conditions of a newer
// service are left to --json.
func (r apiRule) when() string {
	var names []string
	for _, name := range []string{"new", "regressed", "reached", "frequency", "spike", "quiet"} {
		if _, set := r.When[name]; set {
			names = append(names, name)
		}
	}
	return cmp.Or(strings.Join(names, ", "), "-")
}

func onOff(enabled bool) string {
	if enabled {
		return "on"
	}
	return "off"
}

var channelColumns = []column{
	{name: "CHANNEL"}, {name: "KIND", leave: 2}, {name: "STATE", leave: 3}, {name: "WHERE", least: 16, leave: 1}, {name: "NAME", least: 12},
}

func printChannels(w io.Writer, width int, all []apiChannel) error {
	rows := make([][]string, len(all))
	for i, c := range all {
		rows[i] = []string{c.ID, c.Kind, onOff(c.Enabled), c.where(), c.Name}
	}
	return printTable(w, width, channelColumns, rows)
}

func newAlertsDeliveries(t *terminal) *cobra.Command {
	asked := map[string]*string{}
	cmd := keyCommand(t, &cobra.Command{
		Use:   "deliveries",
		Short: "List the newest messages, where they go and how far they are",
	}, func(cmd *cobra.Command, c *client, _ []string) error {
		query := url.Values{}
		for name, value := range asked {
			if *value != "" {
				query.Set(name, *value)
			}
		}
		return listAlerts(cmd, t, c, "deliveries", "/deliveries?"+query.Encode(), printDeliveries)
	})
	for _, p := range []struct{ name, usage string }{
		{"rule", "Only those of the rule with this `id`."},
		{"channel", "Only those of the channel with this `id`."},
		{"state", "Only those in this `state`: waiting, sent or failed."},
		{"limit", "So `many` deliveries, 1 to 1000; 100 without it."},
	} {
		asked[p.name] = cmd.Flags().String(p.name, "", p.usage)
	}
	addJSON(cmd, "Print one JSON array, as the API answers it.")
	_ = cmd.RegisterFlagCompletionFunc("state", cobra.FixedCompletions([]string{"waiting", "sent", "failed"}, cobra.ShellCompDirectiveNoFileComp)) // fails only for a flag that there is not
	_ = cmd.RegisterFlagCompletionFunc("rule", completeAlerts(t, "/rules"))
	_ = cmd.RegisterFlagCompletionFunc("channel", completeAlerts(t, "/channels"))
	return cmd
}

var deliveryColumns = []column{
	{name: "MADE"}, {name: "STATE"}, {name: "TRIES", right: true, leave: 2}, {name: "RULE", least: 10, leave: 3}, {name: "CHANNEL", least: 10},
	{name: "ABOUT", least: 16, leave: 1}, {name: "WHY NOT", least: 16, leave: 4},
}

func printDeliveries(w io.Writer, width int, all []apiDelivery) error {
	rows := make([][]string, len(all))
	for i, d := range all {
		rows[i] = []string{
			clock(d.Made, time.DateTime), d.State, strconv.Itoa(d.Tries), cmp.Or(d.RuleName, d.Rule), cmp.Or(d.ChannelName, d.Channel), d.Subject, cmp.Or(d.why(), "-"),
		}
	}
	return printTable(w, width, deliveryColumns, rows)
}

const alertsTestHelp = `Sends a message that says that it is a test to a channel, by its id as "errata alerts
channels" shows it, and says what came of it. It ends with 1 when the channel has not
taken the message; nothing is tried again.`

// testPatience is longer than the mails to all addresses of a channel may take.
const testPatience = time.Minute

func newAlertsTest(t *terminal) *cobra.Command {
	cmd := keyCommand(t, &cobra.Command{
		Use:   "test CHANNEL",
		Short: "Send a test message to a channel",
		Long:  alertsTestHelp,
		Args:  cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, c *client, args []string) error {
		patient := *c
		patient.http.Timeout = testPatience
		var tried apiTried
		if err := patient.call(cmd.Context(), http.MethodPost, alertsPath+"/channels/"+url.PathEscape(args[0])+"/test", nil, &tried); err != nil {
			return fmt.Errorf("test the channel %s: %w", printed(args[0]), err)
		}
		if err := show(cmd, tried, printTried); err != nil || tried.OK {
			return err
		}
		return fmt.Errorf("the channel %s has not taken the message: %s", printed(args[0]), printed(tried.Error))
	})
	cmd.ValidArgsFunction = completeAlerts(t, "/channels")
	addJSON(cmd, "Print one JSON object.")
	return cmd
}

func printTried(w io.Writer, tried apiTried) error {
	what := "sent"
	if !tried.OK {
		what = "not sent"
	}
	if tried.Status > 0 {
		what += fmt.Sprintf(", status %d", tried.Status)
	}
	if tried.Answer != "" {
		what += ": " + tried.Answer
	}
	_, err := fmt.Fprintln(w, printed(what))
	return err
}

// completeAlerts completes the ids of a list.
func completeAlerts(t *terminal, route string) cobra.CompletionFunc {
	return asked(t, func(ctx context.Context, c *client, _ string) (ids []string) {
		var all []struct {
			ID string `json:"id"`
		}
		_ = c.call(ctx, http.MethodGet, alertsPath+route, nil, &all) // a shell has no place for an error
		for _, one := range all {
			ids = append(ids, one.ID)
		}
		return ids
	})
}
