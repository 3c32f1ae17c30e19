package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/errata-log/errata/datadir"
)

const keysShowHelp = `Prints a key of the first start from its file in DATA/keys: admin, ingest, or dsn for
the Sentry DSN. It asks no service. For containers, where the folder is in a volume
and the image may have no other program:

  docker exec errata /errata keys show admin`

// firstKeys are the keys that the first start makes, by the names of keys show.
var firstKeys = map[string]string{
	"admin": datadir.AdminKeyFile, "ingest": datadir.IngestKeyFile, "dsn": datadir.DSNFile,
}

func newKeysShow(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:       "show admin|ingest|dsn",
		Short:     "Print a key of the first start from its file",
		Long:      keysShowHelp,
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"admin", "ingest", "dsn"},
	}
	addSettings(cmd, "data")
	cmd.RunE = configured(t, func(cmd *cobra.Command, c *config, args []string) error {
		text, err := os.ReadFile(filepath.Join(c.service.Data, firstKeys[args[0]]))
		if err != nil {
			return fmt.Errorf("%w; the first start writes it, and somebody may have put it away", err)
		}
		_, err = cmd.OutOrStdout().Write(text)
		return err
	})
	return cmd
}
