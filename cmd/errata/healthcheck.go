package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	errata "github.com/errata-log/errata"
)

// healthTimeout is below the timeout of common health checks, so that this
// program can still say what is wrong.
const healthTimeout = 4 * time.Second

func newHealthcheck(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "healthcheck",
		Short: "Ask the running service whether it is ready; exit code 0 or 1",
		Long:  "Asks GET /readyz of the running service. Exit code 0: ready, also while an\nalarm stands, which no restart mends. Exit code 1: not ready, or not reached.\nFor container health checks, where no shell and no curl is at hand.",
		RunE: configured(t, func(cmd *cobra.Command, c *config, _ []string) error {
			return healthcheck(cmd, serviceURL(cmd, t, c))
		}),
	}
	addSettings(cmd, "data", "listen")
	addURL(cmd)
	return cmd
}

func healthcheck(cmd *cobra.Command, url string) error {
	req, err := http.NewRequestWithContext(cmd.Context(), http.MethodGet, url+"/readyz", nil)
	if err != nil {
		return usagef("url: %w", err)
	}
	resp, err := (&http.Client{Timeout: healthTimeout}).Do(req)
	if err != nil {
		return fmt.Errorf("not reached: %w", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if resp.StatusCode == http.StatusOK {
		_, err = fmt.Fprintln(cmd.OutOrStdout(), "ready")
		return err
	}
	var answer struct {
		Error apiError `json:"error"`
	}
	switch err := json.Unmarshal(text, &answer); {
	case err != nil || answer.Error.Message == "":
		return fmt.Errorf("not ready: %w", &apiError{Status: resp.StatusCode})
	case answer.Error.Code == string(errata.KindDegraded):
		_, err = fmt.Fprintln(cmd.OutOrStdout(), "ready:", answer.Error.Message)
		return err
	default:
		return fmt.Errorf("not ready: %s", answer.Error.Message)
	}
}
