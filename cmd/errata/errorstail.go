package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/background"
)

const (
	// tailWide is from which width on a line of the tail names status and project.
	tailWide = 110
	// tailConnected says that from now on changes are shown.
	tailConnected = "connected; Ctrl-C ends it"
	// caughtUp is how many records are listed at most after a pause.
	caughtUp = 100
)

// Only tests change these.
var (
	// tailPauses are between tries to reach a service that went away.
	tailPauses = background.Pauses{First: 500 * time.Millisecond, Most: 15 * time.Second}
	// tailSilence ends a connection on which nothing comes any more: the service sends
	// a comment every 15 s.
	tailSilence = 45 * time.Second
)

const errorsTailHelp = `Follows what happens to errors, one line for each change, until Ctrl-C: new ones,
those seen again, and those whose status changed or that were deleted.

  errata errors tail --project shop

When the service goes away, it connects again and shows what was seen meanwhile.
With --json it prints the messages of the stream, a line each, as the API sends them.`

func newErrorsTail(t *terminal) *cobra.Command {
	var projects string
	var asJSON bool
	cmd := keyCommand(t, &cobra.Command{
		Use:   "tail",
		Short: "Follow what happens to errors",
		Long:  errorsTailHelp,
	}, func(cmd *cobra.Command, c *client, _ []string) error {
		f := &follower{client: c, out: cmd.OutOrStdout(), about: cmd.ErrOrStderr(), width: t.width, asJSON: asJSON, asked: url.Values{}}
		if projects != "" {
			f.asked.Set("project", projects)
		}
		return f.run(cmd.Context())
	})
	cmd.Flags().StringVar(&projects, "project", "", "Only of these `projects`, by slug or number, separated by commas.")
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print each message as one line of JSON.")
	completeValues(t, cmd)
	return cmd
}

// follower prints a stream of changes, for one goroutine.
type follower struct {
	client     *client
	out, about io.Writer
	width      func() int // a window may change
	asJSON     bool
	asked      url.Values

	connected uint64 // how often
	newest    string // the last time at which a record was seen
	failed    error  // that no other try can help
}

// changes is a message of the stream.
type changes struct {
	Records []json.RawMessage `json:"records"`
	More    uint64            `json:"more"`
	Gone    []struct {
		Type      string `json:"type"`
		Signature string `json:"signature"`
	} `json:"gone"`
	Changed uint64 `json:"total_changed"`
}

// run follows until ctx ends, which is no error: it is how a person ends it.
func (f *follower) run(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	background.Loop{
		Do: func(ctx context.Context) error {
			err := f.follow(ctx)
			if f.hopeless(err) && ctx.Err() == nil {
				f.failed = err
				end()
			}
			return err
		},
		Pauses: tailPauses, Reached: func() any { return f.connected },
		Failed: func(err error, row int) {
			if row == 1 {
				fmt.Fprintf(f.about, "errata: %s; trying again\n", printed(err.Error()))
			}
		},
	}.Run(ctx)
	if f.failed != nil {
		return fmt.Errorf("follow the errors: %w", f.failed)
	}
	return nil
}

// hopeless says that no other try can help: the output is gone, the service was never
// reached, or it refuses for good.
func (f *follower) hopeless(err error) bool {
	if refused, ok := errors.AsType[*apiError](err); ok {
		return refused.Status < http.StatusInternalServerError && refused.Status != http.StatusTooManyRequests
	}
	var output *outputError
	return errors.As(err, &output) || f.connected == 0
}

// outputError is an output that takes nothing any more.
type outputError struct{ error }

// follow reads the stream until it breaks.
func (f *follower) follow(ctx context.Context) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	silence := time.AfterFunc(tailSilence, func() { end(errors.New("nothing came from the service for a while")) })
	defer silence.Stop()
	patient := *f.client
	patient.http.Timeout = 0 // the stream does not end
	resp, err := patient.send(ctx, http.MethodGet, errorsPath+"/stream?"+f.asked.Encode(), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	err = readStream(resp.Body, func() { silence.Reset(tailSilence) }, func(m streamMessage) error { return f.take(ctx, m) })
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// take prints one message.
func (f *follower) take(ctx context.Context, m streamMessage) error {
	switch m.event {
	case "hello":
		if f.connected++; f.connected > 1 {
			fmt.Fprintln(f.about, "errata: connected again; changes of status and deletes of the pause are not shown")
			return f.catchUp(ctx)
		}
		fmt.Fprintln(f.about, tailConnected)
		f.newest = errata.Instant(time.Now()).String() // texts of one form can be compared
		return nil
	case "records":
		var c changes
		if err := json.Unmarshal([]byte(m.data), &c); err != nil {
			return fmt.Errorf("the stream is not Errata's: %w", err)
		}
		return f.print(c)
	default:
		return nil // of a later version
	}
}

// catchUp shows what was seen while there was no connection.
func (f *follower) catchUp(ctx context.Context) error {
	asked := url.Values{"date_range": {f.newest + ".."}, "limit": {fmt.Sprint(caughtUp)}}
	if projects := f.asked.Get("project"); projects != "" {
		asked.Set("project", projects)
	}
	page, err := f.client.list(ctx, asked)
	if err != nil {
		return err
	}
	since := f.newest
	missed := changes{}
	for i, r := range page.records {
		if r.LastSeen > since { // the range holds what was shown last too
			missed.Records = append(missed.Records, page.Data[i])
		}
	}
	missed.More = page.Meta.Total - min(page.Meta.Total, uint64(len(page.Data)))
	if missed.Changed = missed.More + uint64(len(missed.Records)); missed.Changed == 0 {
		return nil
	}
	return f.print(missed)
}

// print prints changes, the latest last.
func (f *follower) print(c changes) error {
	records := make([]apiRecord, len(c.Records))
	for i, raw := range c.Records {
		if err := json.Unmarshal(raw, &records[i]); err != nil {
			return fmt.Errorf("the stream is not Errata's: %w", err)
		}
		f.newest = max(f.newest, records[i].LastSeen)
	}
	if f.asJSON {
		if err := printJSON(f.out, c); err != nil {
			return &outputError{err}
		}
		return nil
	}
	var text strings.Builder
	width := f.width()
	for _, r := range slices.Backward(records) {
		text.WriteString(cutTo(tailLine(r, width), width) + "\n")
	}
	for _, gone := range c.Gone {
		text.WriteString(cutTo(printed("deleted   "+apiRecord{Type: gone.Type, Signature: gone.Signature}.shortName()), width) + "\n")
	}
	if c.More > 0 {
		text.WriteString(cutTo(fmt.Sprintf("… more changes: %d", c.More), width) + "\n")
	}
	if _, err := io.WriteString(f.out, text.String()); err != nil {
		return &outputError{err}
	}
	return nil
}

// tailLine is one change of a record.
func tailLine(r apiRecord, width int) string {
	parts := []string{
		clock(r.LastSeen, time.TimeOnly), padded(printed(r.Level), 8, false), padded(printed(r.shortName()), 21, false), padded(fmt.Sprint(r.Count), 6, true),
	}
	if width == 0 || width >= tailWide {
		parts = append(parts, padded(printed(r.state()), 9, false), padded(printed(cmp.Or(r.Project, "-")), 12, false))
	}
	return printed(strings.Join(append(parts, r.what()), "  "))
}
