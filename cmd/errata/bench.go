package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"path"
	"time"

	"github.com/spf13/cobra"

	"github.com/errata-log/errata/internal/load"
)

const benchHelp = `Sends Sentry envelopes of 3.5 KB to the DSN of any server, as fast as it answers
them, in turns with a null sink: a server that takes the same requests and drops
them. It prints how many events a second both took, and how many of the events
that were answered with 2xx the server shows afterwards. Exit code 1 when it shows
fewer, or more than were sent.

What an Errata shows is asked at its API, with the key and the address that the
other commands use; the address must be that of the DSN, or be given by --url. For
any other server --shown is a command of the shell whose last line is the number of
events that it shows now.

  errata bench --dsn http://KEY@127.0.0.1:8080/1 --pid $(pgrep -f 'errata serve')

CPU S/1000 is processor time in seconds for 1,000 accepted events, MEMORY MB the
highest resident memory, STOLEN what other machines took of the time that this one
wanted; SINK CPU and SINK MB are of the null sink.

The generator, the null sink and the server share the processors when they run on
one machine: compare the ratios, and only those of one machine. Switch the limits of
the server off first, and send to a server that may be filled: the events stay.`

const (
	maxConnections = 4096
	maxRounds      = 1000
	leastSpan      = 100 * time.Millisecond
)

// benchOptions are the flags of "errata bench".
type benchOptions struct {
	dsn         string
	connections []int
	rounds      int
	span        time.Duration
	problems    int
	pids        []int
	shown       string
	settle      time.Duration
}

func newBench(t *terminal) *cobra.Command {
	var o benchOptions
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure any server that speaks the Sentry protocol",
		Long:  benchHelp,
		RunE: configured(t, func(cmd *cobra.Command, c *config, _ []string) error {
			to, err := o.check()
			if err != nil {
				return err
			}
			count, err := shownCounter(cmd, t, c, to, o.shown)
			if err != nil {
				return err
			}
			return bench(cmd, t, o, to, count)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.dsn, "dsn", "", "The `DSN` of the server, without TLS.")
	flags.IntSliceVar(&o.connections, "connections", []int{16, 64}, "Measure with so many connections; several `numbers` are separated by commas, each is a row.")
	flags.IntVar(&o.rounds, "rounds", 5, "Rounds of each row, in each the null sink and the server; medians are printed.")
	flags.DurationVar(&o.span, "span", 3*time.Second, "How long the null sink and the server get requests in a round.")
	flags.IntVar(&o.problems, "signatures", 100, "Events of so many different problems, in turn.")
	flags.IntSliceVar(&o.pids, "pid", nil, "Measure processor time and memory of this `process` of the server and of all below it; may be given again. Linux only.")
	flags.StringVar(&o.shown, "shown", "", "The `command` that prints how many events the server shows.")
	flags.DurationVar(&o.settle, "settle", 10*time.Second, "Believe the number of shown events when it has stood still for so long.")
	addJSON(cmd, "Print one JSON object.")
	addSettings(cmd, "data", "listen")
	addURL(cmd)
	addKey(cmd)
	return cmd
}

// check finds mistakes in the flags.
func (o *benchOptions) check() (*target, error) {
	for _, n := range o.connections {
		if n < 1 || n > maxConnections {
			return nil, usagef("--connections: %d is not a number from 1 to %d", n, maxConnections)
		}
	}
	switch {
	case len(o.connections) == 0:
		return nil, usagef("--connections: give at least one number")
	case o.rounds < 1 || o.rounds > maxRounds:
		return nil, usagef("--rounds: %d is not a number from 1 to %d", o.rounds, maxRounds)
	case o.span < leastSpan:
		return nil, usagef("--span: %v is shorter than %v", o.span, leastSpan)
	case o.problems < 1 || o.problems > load.MaxProblems:
		return nil, usagef("--signatures: %d is not a number from 1 to %d", o.problems, load.MaxProblems)
	case o.settle <= 0:
		return nil, usagef("--settle: %v is not a time to wait", o.settle)
	}
	return parseTarget(o.dsn)
}

// target is the server that is measured.
type target struct {
	dsn       string
	addr      string // host:port
	host      string // as in the DSN
	publicKey string
	prefix    string // of the path, without a slash at the end
	project   string
}

func parseTarget(dsn string) (*target, error) {
	if dsn == "" {
		return nil, usagef("--dsn: give the DSN of the server, http://KEY@HOST:PORT/PROJECT")
	}
	at, err := url.Parse(dsn)
	if err != nil {
		return nil, usagef("--dsn: %w", err)
	}
	if at.Scheme == "https" {
		return nil, usagef("--dsn: TLS is not measured, because the null sink has none; give the address behind the proxy, http://…")
	}
	folder, project := path.Split(at.Path)
	if at.Scheme != "http" || at.Host == "" || at.User.Username() == "" || project == "" {
		return nil, usagef("--dsn: %q is not of the form http://KEY@HOST:PORT/PROJECT", dsn)
	}
	port := at.Port()
	if port == "" {
		port = "80"
	}
	return &target{
		dsn: dsn, addr: net.JoinHostPort(at.Hostname(), port), host: at.Host, publicKey: at.User.Username(), prefix: path.Clean("/" + folder), project: project,
	}, nil
}

// request is the envelope to the server, of so many problems.
func (to *target) request(problems int, now time.Time) load.Request {
	header := append([][2]string{{"Host", to.host}}, load.EnvelopeHeader(to.publicKey)...)
	where := path.Join(to.prefix, "api", to.project, "envelope") + "/"
	return load.NewRequest("POST", where, header, load.Envelope(to.dsn, now, load.Problem), 1).Among(problems)
}

// sendFirst sends one event, so that a wrong DSN is known at once. A server that is
// busy may refuse it.
func (to *target) sendFirst(ctx context.Context, req load.Request, r *benchReport) error {
	c, err := load.Dial(ctx, to.addr, req)
	if err != nil {
		return fmt.Errorf("reach the server: %w", err)
	}
	defer c.Close()
	release := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer release()
	c.Fill()
	answer, err := c.Send()
	switch {
	case err != nil:
		return fmt.Errorf("send the first event: %w", err)
	case answer.Accepted():
		r.Accepted++
	case answer.Code/100 == 4 && answer.Code != 429:
		return fmt.Errorf("send the first event: %s answered %s: %s", to.addr, printed(answer.Status), printed(answer.Body))
	default:
		r.refused(map[string]int64{answer.Status: 1})
	}
	return nil
}

// bench measures, prints, and fails when the server does not show what it accepted.
func bench(cmd *cobra.Command, t *terminal, o benchOptions, to *target, count counter) error {
	ctx, out, progress := cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	asJSON, err := cmd.Flags().GetBool("json")
	if err != nil {
		return err
	}
	r := &benchReport{}
	var before int64
	if count != nil {
		if before, err = count(ctx); err != nil {
			return fmt.Errorf("ask how many events the server shows: %w", err)
		}
	}
	m := &measurement{options: o, target: to, request: to.request(o.problems, time.Now()), report: r, progress: progress}
	began, err := m.usage()
	if err != nil && len(o.pids) > 0 {
		return fmt.Errorf("--pid: %w", err)
	}
	if err := to.sendFirst(ctx, m.request, r); err != nil {
		return err
	}
	if err := m.rows(ctx); err != nil {
		return err
	}
	if !asJSON {
		if err := printBench(out, t.width(), r); err != nil {
			return err
		}
	}
	if count != nil {
		r.Shown, err = awaitShown(ctx, count, before, r.Accepted, o.settle)
		if err != nil {
			return fmt.Errorf("ask how many events the server shows: %w", err)
		}
	}
	if ended, err := m.usage(); err == nil {
		r.ProcessorAll = perThousand(ended.Since(began), r.Accepted)
	}
	return errors.Join(finish(out, r, asJSON), r.verdict())
}

// finish prints what is known after the load.
func finish(out io.Writer, r *benchReport, asJSON bool) error {
	if asJSON {
		return printJSON(out, r)
	}
	_, err := io.WriteString(out, r.summary())
	return err
}
