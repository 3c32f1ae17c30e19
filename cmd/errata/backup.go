package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/errata-log/errata/backup"
)

const backupHelp = `Copies everything that the service on the data folder keeps into a new folder: log,
records, settings, keys, alert rules, audit trail, and the files with secrets.
The service goes on taking events. The backup ends at one fact of the log, which the
command prints: what was taken before is in it, what came after is not.

  errata backup /backup/today --data /var/lib/errata
  errata restore /backup/today --data /var/lib/errata-new

The command must run on the machine of the service, as a user who may read the data
folder. The folder has secrets, so only you may read it: store it like a key. A folder
whose name ends in .unfinished is no backup; remove it.

A service with a NATS or ClickHouse server of your own has no such backup.`

// backedUp is what the commands print with --json.
type backedUp struct {
	Folder string `json:"folder"`
	backup.Manifest
	// Their lists are long and stand in the folder.
	Streams int `json:"streams"`
	Tables  int `json:"tables"`
}

func newBackedUp(folder string, m backup.Manifest) backedUp {
	return backedUp{Folder: folder, Manifest: m, Streams: len(m.Streams), Tables: len(m.Tables)}
}

func newBackup(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup FOLDER",
		Short: "Copy everything that the running service keeps into a folder",
		Long:  backupHelp,
		Args:  cobra.ExactArgs(1),
		RunE: configured(t, func(cmd *cobra.Command, c *config, args []string) error {
			var bytes atomic.Int64
			done := showBytes(cmd.ErrOrStderr(), "copied", &bytes)
			m, err := backup.Make(cmd.Context(), c.service.Data, args[0], bytes.Store)
			done()
			if err != nil {
				return fmt.Errorf("backup: %w", err)
			}
			return show(cmd, newBackedUp(args[0], m), func(w io.Writer, b backedUp) error {
				_, err := fmt.Fprintf(w, "%s of the service %s are in %s\nthe log up to fact %d, taken at %s; the records up to fact %d, and a restored service folds the rest\n",
					roundSize(b.Bytes), printable(b.Errata), printed(b.Folder), b.Position, b.At.UTC().Format(time.RFC3339), b.Folded)
				return err
			})
		}),
	}
	addSettings(cmd, "data")
	addJSON(cmd, "Print one JSON object.")
	return cmd
}

const restoreHelp = `Makes a data folder from a backup: the one that --data names, which must be missing or
empty. Before anything is written, every byte of the backup is compared with its
checksum. Afterwards start the service as always:

  errata restore /backup/today --data /var/lib/errata
  errata serve --data /var/lib/errata

Run it as the user of the service, and never start two services from one backup: both
would send the same alerts, and applications could reach only one of them.

With --records only the records are restored, for a node of a cluster that gets the log
from the others: from a backup of one of them.

A restore that is broken off leaves a folder on which no service starts; empty it and
restore again.`

func newRestore(t *terminal) *cobra.Command {
	var records bool
	cmd := &cobra.Command{
		Use:   "restore FOLDER",
		Short: "Make a data folder from a backup",
		Long:  restoreHelp,
		Args:  cobra.ExactArgs(1),
		RunE: configured(t, func(cmd *cobra.Command, c *config, args []string) error {
			m, err := backup.Restore(cmd.Context(), backup.RestoreConfig{
				Folder: args[0], Data: c.service.Data, Options: c.service.Options, Records: records,
				Logger: newLogger(cmd.ErrOrStderr(), slog.LevelWarn, "auto"),
			})
			if err != nil {
				return fmt.Errorf("restore: %w", err)
			}
			return show(cmd, newBackedUp(args[0], m), func(w io.Writer, b backedUp) error {
				_, err := fmt.Fprintf(w, "%s has what the service %s kept at %s: the log up to fact %d, taken at %s\nstart it: errata serve --data %[1]s\n",
					printed(c.service.Data), printable(b.Errata), b.Made.UTC().Format(time.RFC3339), b.Position, b.At.UTC().Format(time.RFC3339))
				return err
			})
		}),
	}
	cmd.Flags().BoolVar(&records, "records", false, "Restore the records alone, for a node of a cluster.")
	addSettings(cmd, "data", "engine-binary", "libchdb")
	addJSON(cmd, "Print one JSON object.")
	return cmd
}

// showBytes shows on a terminal how many bytes there are, until done is called. It shows
// nothing when w is no terminal.
func showBytes(w io.Writer, what string, bytes *atomic.Int64) (done func()) {
	bar := progressbar.NewOptions64(-1, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what), progressbar.OptionShowBytes(true))
	return draw(w, func(context.Context) { _ = bar.Set64(bytes.Load()) }, func() { fmt.Fprintln(w) })
}
