package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/errata-log/errata/ingest/legacy"
	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/ops"
)

// rebuildPath is the route that imports, and says how far the import is.
const rebuildPath = "/api/v1/admin/tools/logs/errors/rebuild"

// importResult is the service's answer to an import.
type importResult struct {
	Count      int64         `json:"count"`
	Files      int64         `json:"files"`
	Unreadable int64         `json:"unreadable"`
	Skipped    []legacy.Note `json:"skipped"`
	Warnings   []legacy.Note `json:"warnings"`
}

// progressPause is the pause between two requests for the progress.
const progressPause = 500 * time.Millisecond

const importHelp = `Imports the old error files that lie in DATA/legacy/system and
DATA/legacy/database (--legacy-dir of the service) through the running service:
error logs of PHP, of Monolog, and JSON lines, each also packed with gzip. What
is imported moves into the folder "done" beside it.

An import that broke off goes on where it stopped when this is run again, and
nothing is counted twice. Ending this command does not end the import.`

func newImport(t *terminal) *cobra.Command {
	cmd := keyCommand(t, &cobra.Command{
		Use:   "import",
		Short: "Import old error files into the running service",
		Long:  importHelp,
	}, func(cmd *cobra.Command, c *client, _ []string) error {
		done := showProgress(c, cmd.ErrOrStderr())
		patient := *c
		patient.http.Timeout = 0 // gigabytes take minutes; the service says when it ends
		var result importResult
		err := patient.call(cmd.Context(), http.MethodPost, rebuildPath, nil, &result)
		done()
		if err != nil {
			return fmt.Errorf("import: %w", err)
		}
		return show(cmd, result, printImport)
	})
	addJSON(cmd, "Print one JSON object.")
	return cmd
}

func printImport(w io.Writer, r importResult) error {
	var text strings.Builder
	fmt.Fprintf(&text, "imported %d events from %d files, %d lines or entries could not be read\n", r.Count, r.Files, r.Unreadable)
	for _, n := range r.Warnings {
		text.WriteString(noteLine("warning", n))
	}
	for _, n := range r.Skipped {
		text.WriteString(noteLine("skipped", n))
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func noteLine(what string, n legacy.Note) string {
	if n.File == "" {
		return fmt.Sprintf("%s: %s\n", what, n.Reason)
	}
	return fmt.Sprintf("%s %s: %s\n", what, n.File, n.Reason)
}

// showProgress draws a bar for each file on a terminal until done is called. It draws
// nothing when w is no terminal.
func showProgress(c *client, w io.Writer) (done func()) {
	bars := progressBars{w: w}
	return draw(w, func(ctx context.Context) {
		var p ops.ImportProgress
		if c.call(ctx, http.MethodGet, rebuildPath, nil, &p) == nil && p.Running {
			bars.show(p.Progress)
		}
	}, bars.finish)
}

// draw calls step again and again until done is called, and then finish. It calls
// neither when w is no terminal.
func draw(w io.Writer, step func(ctx context.Context), finish func()) (done func()) {
	if !isTerminal(w) {
		return func() {}
	}
	var drawing background.Runner
	drawing.Start(background.Loop{Every: progressPause, Do: func(ctx context.Context) error { step(ctx); return nil }}.Run)
	return func() {
		_ = drawing.Stop(context.Background())
		finish()
	}
}

// progressBars are the bars of one import, one at a time.
type progressBars struct {
	w    io.Writer
	bar  *progressbar.ProgressBar
	file string
}

func (b *progressBars) show(p legacy.Progress) {
	if p.File == "" || p.BytesTotal <= 0 {
		return
	}
	if b.file != p.File {
		b.finish()
		b.file = p.File
		b.bar = progressbar.NewOptions64(p.BytesTotal,
			progressbar.OptionSetWriter(b.w), progressbar.OptionSetDescription(p.File),
			progressbar.OptionShowBytes(true), progressbar.OptionSetWidth(30))
	}
	b.bar.ChangeMax64(p.BytesTotal) // it grows while a packed file is read
	_ = b.bar.Set64(min(p.BytesDone, p.BytesTotal))
}

// finish leaves the last bar where it is and begins a new line.
func (b *progressBars) finish() {
	if b.bar != nil {
		_ = b.bar.Exit()
		fmt.Fprintln(b.w)
	}
	b.bar = nil
}
