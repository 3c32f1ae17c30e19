package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
)

const doctorHelp = `Checks this machine and, when a service runs on the data folder or --url names
one, that service: its engines, whether the log is on disk before senders are
answered, how far the records are behind the log, and how full the log is.

Each failed check says what to do. Exit code 1 when one failed. Nothing is
changed.`

// state is the result of a check.
type state string

const (
	stateOK      state = "ok"
	stateWarning state = "warning" // works, but the operator should look at it
	stateFailed  state = "failed"
	stateSkipped state = "skipped" // does not apply, or cannot be checked
)

// finding is what one check found.
type finding struct {
	Check  string `json:"check"`
	State  state  `json:"state"`
	Detail string `json:"detail"`
	// Fix says what to do; "" unless the check failed or warned.
	Fix string `json:"fix,omitempty"`
}

func newDoctor(t *terminal) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check this machine and the running service",
		Long:  doctorHelp,
		RunE: configured(t, func(cmd *cobra.Command, c *config, _ []string) error {
			findings := append(localChecks(cmd.Context(), c), remoteChecks(cmd, t, c)...)
			return report(cmd.OutOrStdout(), findings, asJSON)
		}),
	}
	addSettings(cmd)
	addURL(cmd)
	addKey(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print one JSON object.")
	return cmd
}

// localChecks check this machine for "errata serve" with the same settings.
func localChecks(ctx context.Context, c *config) []finding {
	return []finding{
		checkConfigFile(c),
		checkData(c),
		checkKeyFiles(c),
		checkDisk(c),
		checkClock(ctx, thisBuild()),
		checkEngine(c),
		checkCertificate(c, time.Now()),
		checkFiles("nats-tls-cert", c.service.NATSFiles(), "the embedded NATS", time.Now()),
		checkFiles("clickhouse-tls-cert", c.service.ClickHouseFiles(), "the address for analysts", time.Now()),
		checkMail(ctx, c),
		checkLocation(c, time.Now()),
	}
}

// report prints the findings. It fails when a check has failed.
func report(w io.Writer, findings []finding, asJSON bool) error {
	failed := 0
	for _, f := range findings {
		if f.State == stateFailed {
			failed++
		}
	}
	if err := printFindings(w, findings, failed, asJSON); err != nil {
		return fmt.Errorf("print the findings: %w", err)
	}
	if failed > 0 {
		return errSilent
	}
	return nil
}

func printFindings(w io.Writer, findings []finding, failed int, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(map[string]any{"ok": failed == 0, "checks": findings})
	}
	for _, f := range findings {
		if _, err := fmt.Fprintf(w, "%-8s %-14s %s\n", f.State, f.Check, f.Detail); err != nil {
			return err
		}
		if f.Fix != "" {
			if _, err := fmt.Fprintf(w, "%-8s %-14s → %s\n", "", "", f.Fix); err != nil {
				return err
			}
		}
	}
	if failed > 0 {
		_, err := fmt.Fprintf(w, "\n%d of %d checks failed.\n", failed, len(findings))
		return err
	}
	return nil
}
