package main

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// completeTimeout bounds what a shell waits for after the Tab key.
const completeTimeout = 2 * time.Second

// listValues are the values of flags of the list that shells complete.
var listValues = map[string][]string{
	"levels": {"debug", "info", "notice", "warning", "error", "critical", "fatal"}, "status": {"open", "resolved", "muted"}, "types": {"system", "database"},
	"order":     {"last_seen", "first_seen", "count", "id", "level", "type", "file", "line", "message", "exception_class", "user_id"},
	"direction": {"desc", "asc"}, "date_range": {"24h", "7d", "today", "yesterday"},
}

// completeValues completes the values of the flags that a command has.
func completeValues(t *terminal, cmd *cobra.Command) {
	complete := func(flag string, values cobra.CompletionFunc) {
		if cmd.Flags().Lookup(flag) != nil {
			_ = cmd.RegisterFlagCompletionFunc(flag, values) // fails only for a flag that there is not
		}
	}
	for flag, values := range listValues {
		complete(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	complete("project", completeProjects(t))
}

// completeProjects completes the slugs of projects.
func completeProjects(t *terminal) cobra.CompletionFunc {
	return asked(t, func(ctx context.Context, c *client, _ string) (slugs []string) {
		var all []apiProject
		_ = c.call(ctx, http.MethodGet, projectsPath, nil, &all) // a shell has no place for an error
		for _, p := range all {
			slugs = append(slugs, p.Slug)
		}
		return slugs
	})
}

// completeErrors completes the names of records. Only the names: scripts of shells
// expand what else they get, and texts of records come from anybody.
func completeErrors(t *terminal) cobra.CompletionFunc {
	return asked(t, func(ctx context.Context, c *client, typed string) (names []string) {
		query := map[string][]string{"limit": {"100"}}
		if _, digits, found := strings.Cut(typed, "/"); found && digits != "" {
			query["search"] = []string{digits}
		}
		page, _ := c.list(ctx, query)
		for _, r := range page.records {
			names = append(names, r.shortName())
		}
		return names
	})
}

// asked completes with what the service answers. Names with other characters than those
// of slugs and signatures are left out.
func asked(t *terminal, ask func(ctx context.Context, c *client, typed string) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) (names []string, _ cobra.ShellCompDirective) {
		ctx, end := context.WithTimeout(cmd.Context(), completeTimeout)
		defer end()
		if settings, err := loadConfig(cmd.Flags(), t.environ); err == nil {
			if c, err := keyClient(cmd, t, settings); err == nil {
				for _, name := range ask(ctx, c, typed) {
					if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-/") == "" && strings.HasPrefix(name, typed) {
						names = append(names, name)
					}
				}
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
