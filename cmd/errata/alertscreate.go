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

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newRule is the request for a new rule.
type newRule struct {
	Name            string         `json:"name"`
	Enabled         bool           `json:"enabled"`
	Projects        []uint64       `json:"projects,omitempty"`
	Environments    []string       `json:"environments,omitempty"`
	Levels          []string       `json:"levels,omitempty"`
	Books           []string       `json:"books,omitempty"`
	Signatures      []string       `json:"signatures,omitempty"`
	Search          string         `json:"search,omitempty"`
	When            map[string]any `json:"when"`
	ThrottleMinutes int            `json:"throttle_minutes,omitempty"`
	To              []string       `json:"to"`
}

const rulesCreateHelp = `Makes a rule and prints its id. At least one of --new, --regressed, --reached,
--frequency, --spike and --quiet says what fires it; what the event must be of is any
without a flag.

  errata alerts rules create "In production" --environments production \
    --new --regressed --to CHANNEL
  errata alerts rules create Flood --frequency 100 --frequency-minutes 10 \
    --frequency-users 5 --throttle-minutes 60 --to CHANNEL`

func newRulesCreate(t *terminal) *cobra.Command {
	var (
		wanted   newRule
		projects []string
		disabled bool
		when     conditions
	)
	cmd := keyCommand(t, &cobra.Command{
		Use:     "create NAME",
		Aliases: []string{"add"},
		Short:   "Make a rule that says which errors are told",
		Long:    rulesCreateHelp,
		Args:    cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, c *client, args []string) (err error) {
		wanted.Name, wanted.Enabled = args[0], !disabled
		if wanted.When, err = when.set(cmd.Flags()); err != nil {
			return err
		}
		if wanted.Projects, err = c.projectNumbers(cmd.Context(), projects); err != nil {
			return err
		}
		return createAlert(cmd, c, "rule", wanted)
	})
	flags := cmd.Flags()
	flags.StringSliceVar(&wanted.To, "to", nil, "The `ids` of the channels that are told, separated by commas.")
	when.declare(flags)
	flags.StringSliceVar(&projects, "projects", nil, "Events of these projects alone: `numbers or slugs`, separated by commas.")
	flags.StringSliceVar(&wanted.Environments, "environments", nil, "Events in these `environments` alone, separated by commas.")
	flags.StringSliceVar(&wanted.Levels, "levels", nil, "Events of these `levels` alone, separated by commas.")
	flags.StringSliceVar(&wanted.Books, "types", nil, "Events of these `types` alone: system or database.")
	flags.StringSliceVar(&wanted.Signatures, "signatures", nil, "Events of the records with these `signatures` alone: 32 digits each, separated by commas.")
	flags.StringVar(&wanted.Search, "search", "", "Only when message, class or file of the record contain the `text`.")
	flags.IntVar(&wanted.ThrottleMinutes, "throttle-minutes", 0, "How many `minutes` the rule says nothing more about a record that it has fired for.")
	flags.BoolVar(&disabled, "disabled", false, "Make it switched off.")
	addJSON(cmd, "Print the rule as one JSON object, as the API answers it.")
	completeValues(t, cmd)
	_ = cmd.RegisterFlagCompletionFunc("to", completeAlerts(t, "/channels")) // fails only for a flag that there is not
	_ = cmd.RegisterFlagCompletionFunc("projects", completeProjects(t))
	return cmd
}

// conditions are the flags of what fires a rule, each named as the member of "when".
type conditions struct {
	fresh, regressed bool
	reached          uint64
	count, users     uint64
	minutes          int
	factor, period   int
	quiet            int
}

func (w *conditions) declare(flags *pflag.FlagSet) {
	flags.BoolVar(&w.fresh, "new", false, "Fires with the first event of a record.")
	flags.BoolVar(&w.regressed, "regressed", false, "Fires with the first event of a record after it was resolved.")
	flags.Uint64Var(&w.reached, "reached", 0, "Fires with the event with which a record has so `many`.")
	flags.Uint64Var(&w.count, "frequency", 0, "Fires when a record has so `many` events in --frequency-minutes.")
	flags.IntVar(&w.minutes, "frequency-minutes", 0, "The last so `many` minutes, for --frequency.")
	flags.Uint64Var(&w.users, "frequency-users", 0, "Of so `many` different users too, for --frequency.")
	flags.IntVar(&w.factor, "spike", 0, "Fires when a project has so `many` times its usual events in --spike-minutes.")
	flags.IntVar(&w.period, "spike-minutes", 0, "A period of so `many` minutes, for --spike.")
	flags.IntVar(&w.quiet, "quiet", 0, "Fires when a project has sent nothing for so `many` minutes.")
}

// set is "when" as the flags say. The service says what is wrong with its values.
func (w *conditions) set(flags *pflag.FlagSet) (map[string]any, error) {
	when := map[string]any{}
	if w.fresh {
		when["new"] = true
	}
	if w.regressed {
		when["regressed"] = true
	}
	if flags.Changed("reached") {
		when["reached"] = map[string]any{"count": w.reached}
	}
	if flags.Changed("frequency") {
		frequency := map[string]any{"count": w.count, "minutes": w.minutes}
		if flags.Changed("frequency-users") {
			frequency["users"] = w.users
		}
		when["frequency"] = frequency
	} else if flags.Changed("frequency-minutes") || flags.Changed("frequency-users") {
		return nil, usagef("--frequency-minutes and --frequency-users belong to --frequency")
	}
	if flags.Changed("spike") {
		when["spike"] = map[string]any{"factor": w.factor, "minutes": w.period}
	} else if flags.Changed("spike-minutes") {
		return nil, usagef("--spike-minutes belongs to --spike")
	}
	if flags.Changed("quiet") {
		when["quiet"] = map[string]any{"minutes": w.quiet}
	}
	if len(when) == 0 {
		return nil, usagef("say what fires the rule: --new, --regressed, --reached, --frequency, --spike or --quiet")
	}
	return when, nil
}

// projectNumbers are the numbers of projects that are named by number or slug.
func (c *client) projectNumbers(ctx context.Context, names []string) (numbers []uint64, err error) {
	for _, name := range names {
		number, err := strconv.ParseUint(name, 10, 64)
		if err != nil {
			var p apiProject
			if err := c.call(ctx, http.MethodGet, projectsPath+"/"+url.PathEscape(name), nil, &p); err != nil {
				return nil, fmt.Errorf("find project %s: %w", printed(name), err)
			}
			number = p.ID
		}
		numbers = append(numbers, number)
	}
	return numbers, nil
}

// newChannel is the request for a new channel.
type newChannel struct {
	Name      string   `json:"name"`
	Kind      string   `json:"kind"`
	Enabled   bool     `json:"enabled"`
	URL       string   `json:"url,omitempty"`
	Secret    string   `json:"secret,omitempty"`
	Chat      string   `json:"chat,omitempty"`
	Addresses []string `json:"addresses,omitempty"`
}

const channelsCreateHelp = `Makes a channel and prints its id. Which flags a kind needs:

  webhook                             --channel-url; --secret, or one is made
  email                               --addresses
  slack, discord, teams, mattermost   --channel-url
  telegram                            --channel-url, --secret, --chat
  ntfy                                --channel-url, --secret if the server wants one

Who has the URL or the secret can send there too, and everybody on this machine can
read a command line. So let both come from a file, as @FILE, or from standard input,
as "-", which asks for it on a terminal and does not show it:

  errata alerts channels create Slack --kind slack --channel-url -`

func newChannelsCreate(t *terminal) *cobra.Command {
	var (
		wanted   newChannel
		disabled bool
	)
	cmd := keyCommand(t, &cobra.Command{
		Use:     "create NAME",
		Aliases: []string{"add"},
		Short:   "Make a channel where messages go",
		Long:    channelsCreateHelp,
		Args:    cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, c *client, args []string) (err error) {
		wanted.Name, wanted.Enabled = args[0], !disabled
		if wanted.URL == fromInput && wanted.Secret == fromInput {
			return usagef("only one of --channel-url and --secret can come from standard input")
		}
		if wanted.URL, err = secretText(cmd, "channel-url", wanted.URL); err != nil {
			return err
		}
		if wanted.Secret, err = secretText(cmd, "secret", wanted.Secret); err != nil {
			return err
		}
		return createAlert(cmd, c, "channel", wanted)
	})
	flags := cmd.Flags()
	flags.StringVar(&wanted.Kind, "kind", "", "The `kind` of the channel.")
	flags.StringVar(&wanted.URL, "channel-url", "", "The `URL` that messages are posted to, @FILE that holds it, or - for standard input.")
	flags.StringVar(&wanted.Secret, "secret", "", "The `secret` or token, @FILE that holds it, or - for standard input.")
	flags.StringVar(&wanted.Chat, "chat", "", "The number or @name of the `chat`, of telegram.")
	flags.StringSliceVar(&wanted.Addresses, "addresses", nil, "The mail `addresses`, separated by commas.")
	flags.BoolVar(&disabled, "disabled", false, "Make it switched off.")
	addJSON(cmd, "Print the channel as one JSON object, as the API answers it.")
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(channelKinds, cobra.ShellCompDirectiveNoFileComp)) // fails only for a flag that there is not
	return cmd
}

// channelKinds are those that shells complete. The service knows which there are.
var channelKinds = []string{"webhook", "email", "slack", "discord", "teams", "mattermost", "telegram", "ntfy"}

// createAlert makes a rule or a channel, and prints its id for scripts.
func createAlert(cmd *cobra.Command, c *client, what string, wanted any) error {
	var whole json.RawMessage
	var made struct{ ID, Name, Secret string }
	err := c.call(cmd.Context(), http.MethodPost, alertsPath+"/"+what+"s", wanted, &whole)
	if err == nil {
		err = json.Unmarshal(whole, &made)
	}
	if err != nil {
		return fmt.Errorf("make the %s: %w", what, err)
	}
	return show(cmd, whole, func(out io.Writer, _ json.RawMessage) error {
		text := fmt.Sprintf("made %s %s\n", what, printed(made.Name))
		if made.Secret != "" {
			text += fmt.Sprintf("secret %s, which verifies its messages; it is shown only now\n", printed(made.Secret))
		}
		_, err1 := io.WriteString(cmd.ErrOrStderr(), text)
		_, err2 := fmt.Fprintln(out, printed(made.ID))
		return cmp.Or(err1, err2)
	})
}
