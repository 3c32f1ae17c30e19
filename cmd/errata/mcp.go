package main

import (
	"cmp"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/errata-log/errata/agents"
)

const mcpHelp = `Lets an AI agent on this machine use the running service: it speaks the Model
Context Protocol on standard input and output, and asks the service over its HTTP
API. Agents start it by themselves; see docs/agents.md.

The key decides what the agent sees and may change. Make one for it, such as

  errata keys create "my agent" --kind adm --scopes Tools/GetErrorLogs,Tools/GetErrorLog --expires-in-days 90

and put it into a file for --key @FILE, or into ERRATA_KEY. Without one it is the
admin key of the first start, which may do everything.`

func newMCP(t *terminal) *cobra.Command {
	return keyCommand(t, &cobra.Command{
		Use:   "mcp",
		Short: "Let an AI agent on this machine use the running service (MCP, stdio)",
		Long:  mcpHelp,
	}, func(cmd *cobra.Command, c *client, _ []string) error {
		defer c.http.CloseIdleConnections()
		return agents.ServeStdio(cmd.Context(), agents.Stdio{
			Version: cmp.Or(version, "dev"), URL: c.url, Key: c.key, Transport: c.http.Transport, In: cmd.InOrStdin(), Out: cmd.OutOrStdout(),
			Logger: slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn})),
		})
	})
}
