package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/native"
	"github.com/errata-log/errata/ingest/sentry"
)

func newSignature(t *terminal) *cobra.Command {
	return group("signature", "Say what makes two errors one record", "Say what makes two errors one record. Nothing is sent and no service is needed.",
		newSignatureExplain(t))
}

const signatureExplainHelp = `Says which fields of an event make its signature: class, place, and the message
with what changes from sighting to sighting replaced, or the fingerprint.

FILE holds one event or several, one after the other: JSON as POST /api/v1/events
takes it, or events as Sentry's SDKs write them. "-" reads standard input.

The settings are those of the service: install roots are cut from files, and
secrets are scrubbed before anything is signed.`

func newSignatureExplain(t *terminal) *cobra.Command {
	var asJSON bool
	var application uint64
	cmd := &cobra.Command{
		Use:   "explain FILE",
		Short: "Explain the signature of the events in a file",
		Long:  signatureExplainHelp,
		Args:  cobra.ExactArgs(1),
		RunE: configured(t, func(cmd *cobra.Command, c *config, args []string) error {
			in, err := openInput(args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			defer in.Close()
			rules, err := ingest.NewRules(c.service.InstallRoots, c.service.Scrub)
			if err != nil {
				return err
			}
			return explainEvents(cmd.OutOrStdout(), in, rules, application, asJSON)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print one JSON object for each event.")
	cmd.Flags().Uint64Var(&application, "application", 1, "`Number` of the application, which is a part of the signature.")
	addSettings(cmd, "install-roots", "scrub-keys", "scrub-patterns")
	return cmd
}

// openInput opens a file, or standard input for "-".
func openInput(name string, stdin io.Reader) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(stdin), nil
	}
	return os.Open(name)
}

// explainEvents explains each event in turn. It ends at an event that cannot be taken,
// and the error has the number of that event.
func explainEvents(w io.Writer, in io.Reader, rules ingest.Rules, application uint64, asJSON bool) error {
	events := json.NewDecoder(in)
	for n := 1; ; n++ {
		var document json.RawMessage
		err := events.Decode(&document)
		if errors.Is(err, io.EOF) && n > 1 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("event %d is not JSON: %w", n, err)
		}
		if err := explainEvent(w, document, rules, application, asJSON, n); err != nil {
			return fmt.Errorf("event %d: %w", n, err)
		}
	}
}

// explainEvent explains the n-th event, which is one for the native receiver or one of
// Sentry. An *errata.Error says why the event cannot be taken.
func explainEvent(w io.Writer, document []byte, rules ingest.Rules, application uint64, asJSON bool, n int) error {
	parse := native.ParseEvent
	if sentry.LooksLike(document) {
		parse = sentry.ParseEvent
	}
	draft, err := parse(document)
	if err != nil {
		return err
	}
	x, refused := rules.Explain(&draft, application)
	if refused != nil {
		return refused
	}
	if asJSON {
		lines := json.NewEncoder(w)
		lines.SetEscapeHTML(false)
		return lines.Encode(x)
	}
	var out strings.Builder
	if n > 1 {
		out.WriteByte('\n')
	}
	row := func(name, value, why string) {
		if why != "" {
			why = "   (" + why + ")"
		}
		fmt.Fprintf(&out, "%-12s %s%s\n", name, cmp.Or(value, "none"), why)
	}
	row("signature", x.Signature, fmt.Sprintf("recipe %d", x.Recipe))
	row("application", fmt.Sprint(x.Application), "")
	row("book", x.Book, x.BookWhy)
	row("class", x.Class, x.ClassWhy)
	row("place", x.Place.Signed, x.Place.Why)
	if x.Place.Sent != x.Place.Signed {
		row("  sent as", x.Place.Sent, "")
	}
	if x.Place.Line > 0 || x.Place.Function != "" {
		row("  at", strings.TrimSpace(fmt.Sprintf("line %d %s", x.Place.Line, x.Place.Function)), "does not count")
	}
	row(x.Message.From, x.Message.Head, "")
	row("  signed as", x.Message.Signed, "")
	for _, r := range x.Message.Replaced {
		row("  replaced", r.From, "by "+cmp.Or(r.To, "nothing"))
	}
	if len(x.Fingerprint) > 0 {
		row("fingerprint", strings.Join(x.Fingerprint, " | "), "stands in for class, place and message")
	}
	row("overflow", x.Overflow, "counts it instead while new-records-per-hour is spent")
	_, err = io.WriteString(w, out.String())
	return err
}
