package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// projectsPath is the route of the projects.
const projectsPath = "/api/v1/admin/projects"

// apiProject is a project as the service shows it.
type apiProject struct {
	ID             uint64          `json:"id"`
	Slug           string          `json:"slug"`
	Name           string          `json:"name"`
	Platform       string          `json:"platform"`
	CreatedAt      string          `json:"created_at"` // RFC 3339, "" for unknown
	Archived       bool            `json:"archived"`
	DSN            string          `json:"dsn"`
	RetentionDays  int             `json:"retention_days"`
	OccurrenceDays int             `json:"occurrence_days"`
	Limits         apiLimits       `json:"limits"`
	Context        apiContext      `json:"context"`
	Noise          json.RawMessage `json:"noise"`
	Key            string          `json:"key,omitempty"` // of a new project only
}

// apiLimits are nil for the limits of the service.
type apiLimits struct {
	EventsPerMinute   *uint64 `json:"events_per_minute"`
	NewRecordsPerHour *uint64 `json:"new_records_per_hour"`
}

// apiContext says what of the context of events is kept.
type apiContext struct {
	SourceLines bool   `json:"source_lines"`
	Breadcrumbs bool   `json:"breadcrumbs"`
	Extra       bool   `json:"extra"`
	Vars        string `json:"vars"`
	Users       bool   `json:"users"`
}

const projectsHelp = `Lists, shows and makes projects of the running service, through its HTTP API. A
project is one application; its number stands in its keys and DSNs. The admin
key comes from --key, ERRATA_KEY, or the file of the first start.`

func newProjects(t *terminal) *cobra.Command {
	return group("projects", "List, show and make projects of the running service", projectsHelp,
		newProjectsCreate(t), newProjectsList(t), newProjectsShow(t))
}

const projectsCreateHelp = `Makes a project and an ingest key for it, and prints the DSN, which a Sentry SDK
takes, and the text of the key. The text is shown once: only its hash is stored.
How to send a first error goes to standard error, as code for the platform.`

func newProjectsCreate(t *terminal) *cobra.Command {
	var wanted struct {
		Name     string `json:"name"`
		Platform string `json:"platform,omitempty"`
	}
	cmd := keyCommand(t, &cobra.Command{
		Use:   "create NAME",
		Short: "Make a project and print its DSN and its ingest key, once",
		Long:  projectsCreateHelp,
		Args:  cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, c *client, args []string) error {
		wanted.Name = args[0]
		var made apiProject
		if err := c.call(cmd.Context(), http.MethodPost, projectsPath, wanted, &made); err != nil {
			return fmt.Errorf("make the project: %w", err)
		}
		return show(cmd, made, func(out io.Writer, made apiProject) error { return printNewProject(out, cmd.ErrOrStderr(), made) })
	})
	cmd.Flags().StringVar(&wanted.Platform, "platform", "", "What the application is made with, such as go or python-django.")
	addJSON(cmd, "Print one JSON object.")
	return cmd
}

// printNewProject prints what a script takes, and tells a person how to go on.
func printNewProject(out, about io.Writer, made apiProject) error {
	if _, err := fmt.Fprintf(about, "made project %d %q with the slug %s\n", made.ID, made.Name, made.Slug); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "DSN  %s\nkey  %s\n", made.DSN, made.Key); err != nil {
		return err
	}
	_, err := fmt.Fprintf(about, "\nA Sentry SDK needs the DSN alone, which \"errata projects show %s\" shows again. The\nkey is for everything else; its text is shown only now.\n\n%s",
		made.Slug, firstErrorFor(made.Platform, made.DSN))
	return err
}

func newProjectsList(t *terminal) *cobra.Command {
	cmd := keyCommand(t, &cobra.Command{
		Use:   "list",
		Short: "List all projects in the order of their numbers",
	}, func(cmd *cobra.Command, c *client, _ []string) error {
		all := []apiProject{}
		if err := c.call(cmd.Context(), http.MethodGet, projectsPath, nil, &all); err != nil {
			return fmt.Errorf("list the projects: %w", err)
		}
		return show(cmd, all, func(out io.Writer, all []apiProject) error { return printProjects(out, t.width(), all) })
	})
	addJSON(cmd, "Print one JSON array.")
	return cmd
}

var projectColumns = []column{
	{name: "NUMBER"}, {name: "SLUG", least: 12}, {name: "STATE"}, {name: "PLATFORM", least: 8, leave: 2}, {name: "CREATED", leave: 1}, {name: "NAME", least: 12},
}

func printProjects(w io.Writer, width int, all []apiProject) error {
	rows := make([][]string, len(all))
	for i, p := range all {
		rows[i] = []string{strconv.FormatUint(p.ID, 10), p.Slug, p.state(), cmp.Or(p.Platform, "-"), cmp.Or(day(p.CreatedAt), "-"), p.Name}
	}
	return printTable(w, width, projectColumns, rows)
}

func (p apiProject) state() string {
	if p.Archived {
		return "archived"
	}
	return "active"
}

func newProjectsShow(t *terminal) *cobra.Command {
	cmd := keyCommand(t, &cobra.Command{
		Use:   "show NUMBER|SLUG",
		Short: "Show one project with its DSN",
		Args:  cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, c *client, args []string) error {
		var p apiProject
		if err := c.call(cmd.Context(), http.MethodGet, projectsPath+"/"+url.PathEscape(args[0]), nil, &p); err != nil {
			return fmt.Errorf("show project %s: %w", printed(args[0]), err)
		}
		return show(cmd, p, printProject)
	})
	addJSON(cmd, "Print one JSON object.")
	return cmd
}

func printProject(w io.Writer, p apiProject) error {
	var rules []struct{ Field, Match, Set, Action string }
	if err := json.Unmarshal(p.Noise, &rules); err != nil {
		return fmt.Errorf("read the noise rules: %w", err)
	}
	rows := [][2]string{
		{"number", strconv.FormatUint(p.ID, 10)}, {"slug", p.Slug}, {"name", p.Name}, {"platform", cmp.Or(p.Platform, "-")},
		{"created", cmp.Or(p.CreatedAt, "-")}, {"state", p.state()}, {"DSN", cmp.Or(p.DSN, "none: the project has no ingest key that works")},
		{"records kept", days(p.RetentionDays)}, {"occurrences kept", days(p.OccurrenceDays)},
		{"events a minute", most(p.Limits.EventsPerMinute)}, {"new records an hour", most(p.Limits.NewRecordsPerHour)}, {"context kept", p.Context.String()},
	}
	for _, rule := range rules {
		looks := rule.Field + " " + rule.Match
		if rule.Set != "" {
			looks = "set " + rule.Set
		}
		rows = append(rows, [2]string{"noise rule", looks + ": " + rule.Action})
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintf(table, "%s\t%s\n", row[0], printed(row[1]))
	}
	return table.Flush() // it returns the first error of all writes
}

// String names what is kept.
func (c apiContext) String() string {
	kept := []string{}
	for _, part := range []struct {
		name string
		on   bool
	}{
		{"source lines", c.SourceLines}, {"breadcrumbs", c.Breadcrumbs}, {"extra", c.Extra},
		{"variables as " + c.Vars, c.Vars != "off"}, {"users", c.Users},
	} {
		if part.on {
			kept = append(kept, part.name)
		}
	}
	return cmp.Or(strings.Join(kept, ", "), "nothing")
}

func days(n int) string {
	if n == 0 {
		return "for ever"
	}
	return fmt.Sprintf("%d days", n)
}

// most is a limit in words.
func most(limit *uint64) string {
	switch {
	case limit == nil:
		return "the limit of the service"
	case *limit == 0:
		return "no limit"
	default:
		return fmt.Sprintf("at most %d", *limit)
	}
}
