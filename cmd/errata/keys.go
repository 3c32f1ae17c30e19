package main

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/errata-log/errata/datadir"
)

// keysPath is the route of the keys.
const keysPath = "/api/v1/admin/keys"

// apiKey is a key as the service shows it. Times are RFC 3339, "" for never.
type apiKey struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Kind       string   `json:"kind"`
	Scopes     []string `json:"scopes"`
	Project    uint64   `json:"project"`
	Projects   []uint   `json:"projects"` // of a limited key
	State      string   `json:"state"`
	CreatedAt  string   `json:"created_at"`
	ExpiresAt  string   `json:"expires_at"`
	EndsSoon   bool     `json:"ends_soon"`
	LastUsedAt string   `json:"last_used_at"`
	RevokedAt  string   `json:"revoked_at"`
	DSN        string   `json:"dsn,omitempty"`
	Key        string   `json:"key,omitempty"` // of a new key only
}

// newAPIKey is the request for a new key.
type newAPIKey struct {
	Name          string   `json:"name"`
	Kind          string   `json:"kind"`
	Scopes        []string `json:"scopes,omitempty"`
	Project       uint64   `json:"project,omitempty"`
	Projects      []uint   `json:"projects,omitempty"`
	ExpiresInDays *int     `json:"expires_in_days,omitempty"`
}

const keysHelp = `Makes, lists and ends API keys of the running service, through its HTTP API. The
admin key comes from --key, ERRATA_KEY, or the file of the first start.

Lost every admin key? On the machine of the service, touch DATA/` + datadir.MakeKeysFile + `
and start it again: it makes those of its first keys whose file is missing or
holds a key that works no more.`

func newKeys(t *terminal) *cobra.Command {
	return group("keys", "Make, list and end API keys of the running service", keysHelp,
		newKeysCreate(t), newKeysList(t), newKeysRevoke(t), newKeysShow(t))
}

// keyCommand gives a command a client with the admin key.
func keyCommand(t *terminal, cmd *cobra.Command, do func(cmd *cobra.Command, c *client, args []string) error) *cobra.Command {
	addSettings(cmd, "data", "listen", "tls-ca")
	addURL(cmd)
	addKey(cmd)
	cmd.RunE = configured(t, func(cmd *cobra.Command, c *config, args []string) error {
		service, err := keyClient(cmd, t, c)
		if err != nil {
			return err
		}
		return do(cmd, service, args)
	})
	return cmd
}

const keysCreateHelp = `Makes an API key and prints its text, once: it is stored nowhere, only its hash
is. What else there is to know goes to standard error, so that

  errata keys create shop > shop.key

leaves a file with the key alone. Kinds of keys:

  ing   sends events of one project; the only kind to put into applications
  adm   administers, within its scopes, such as "Tools/*" or "*"; with --projects
        only what belongs to these projects
  ops   reads status and metrics`

func newKeysCreate(t *terminal) *cobra.Command {
	var (
		wanted newAPIKey
		days   int
	)
	cmd := keyCommand(t, &cobra.Command{
		Use:   "create NAME",
		Short: "Make an API key and print its text, once",
		Long:  keysCreateHelp,
		Args:  cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, c *client, args []string) error {
		wanted.Name = args[0]
		if cmd.Flags().Changed("expires-in-days") {
			wanted.ExpiresInDays = &days
		}
		var made apiKey
		if err := c.call(cmd.Context(), http.MethodPost, keysPath, wanted, &made); err != nil {
			return fmt.Errorf("make the key: %w", err)
		}
		return show(cmd, made, func(out io.Writer, made apiKey) error { return printNewKey(out, cmd.ErrOrStderr(), made) })
	})
	flags := cmd.Flags()
	flags.StringVar(&wanted.Kind, "kind", "ing", "The `kind` of the key: ing, adm or ops.")
	flags.StringSliceVar(&wanted.Scopes, "scopes", nil, "The `scopes` of an adm key, separated by commas.")
	flags.Uint64Var(&wanted.Project, "project", 0, "The `number` of the project of an ing key; 0 takes the next free one.")
	flags.UintSliceVar(&wanted.Projects, "projects", nil, "The `numbers` of the projects that an adm key is limited to, separated by commas; without them it sees all.")
	flags.IntVar(&days, "expires-in-days", 0, "How many `days` until the key stops working; 0 means never. Without it an ing key never does, others do after a year.")
	addJSON(cmd, "Print one JSON object.")
	return cmd
}

func printNewKey(out, about io.Writer, made apiKey) error {
	text := fmt.Sprintf("made key %s %q, kind %s, scopes %s, expires %s\n",
		made.ID, made.Name, made.Kind, strings.Join(made.Scopes, ","), cmp.Or(made.ExpiresAt, "never"))
	if len(made.Projects) > 0 {
		text += fmt.Sprintf("limited to the projects %s\n", joined(made.Projects))
	}
	if made.DSN != "" {
		text += fmt.Sprintf("project %d, Sentry DSN %s\n", made.Project, made.DSN)
	}
	if _, err := io.WriteString(about, text); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, made.Key)
	return err
}

func newKeysList(t *terminal) *cobra.Command {
	cmd := keyCommand(t, &cobra.Command{
		Use:   "list",
		Short: "List all API keys, oldest first",
	}, func(cmd *cobra.Command, c *client, _ []string) error {
		keys := []apiKey{}
		if err := c.call(cmd.Context(), http.MethodGet, keysPath, nil, &keys); err != nil {
			return fmt.Errorf("list the keys: %w", err)
		}
		return show(cmd, keys, func(out io.Writer, keys []apiKey) error { return printKeys(out, t.width(), keys) })
	})
	addJSON(cmd, "Print one JSON array.")
	return cmd
}

var keyColumns = []column{
	{name: "ID"}, {name: "KIND"}, {name: "STATE"}, {name: "PROJECT", least: 7}, {name: "LAST USED", leave: 2}, {name: "EXPIRES", leave: 1},
	{name: "SCOPES", least: 12, leave: 3}, {name: "NAME", least: 12},
}

func printKeys(w io.Writer, width int, keys []apiKey) error {
	rows := make([][]string, len(keys))
	for i, k := range keys {
		project := "-"
		switch {
		case k.Project > 0:
			project = strconv.FormatUint(k.Project, 10)
		case len(k.Projects) > 0:
			project = joined(k.Projects)
		}
		state := k.State
		if k.EndsSoon {
			state = "ends soon"
		}
		rows[i] = []string{
			k.ID, k.Kind, state, project, cmp.Or(day(k.LastUsedAt), "never"), cmp.Or(day(k.ExpiresAt), "never"), strings.Join(k.Scopes, ","), k.Name,
		}
	}
	return printTable(w, width, keyColumns, rows)
}

// joined are the numbers as text.
func joined(numbers []uint) string {
	texts := make([]string, len(numbers))
	for i, number := range numbers {
		texts[i] = strconv.FormatUint(uint64(number), 10)
	}
	return strings.Join(texts, ",")
}

// day is the date of an RFC 3339 time.
func day(instant string) string {
	date, _, _ := strings.Cut(instant, "T")
	return date
}

func newKeysRevoke(t *terminal) *cobra.Command {
	return keyCommand(t, &cobra.Command{
		Use:   "revoke ID...",
		Short: "End API keys for good, by their ids",
		Long:  "Ends API keys for good, by their ids as \"errata keys list\" shows them. Within a\nsecond no node takes them any more.",
		Args:  cobra.MinimumNArgs(1),
	}, func(cmd *cobra.Command, c *client, ids []string) error {
		for _, id := range ids {
			if err := c.call(cmd.Context(), http.MethodDelete, keysPath+"/"+url.PathEscape(id), nil, nil); err != nil {
				return fmt.Errorf("revoke %s: %w", printed(id), err)
			}
			if _, err := fmt.Fprintln(cmd.OutOrStdout(), "revoked", printed(id)); err != nil {
				return err
			}
		}
		return nil
	})
}
