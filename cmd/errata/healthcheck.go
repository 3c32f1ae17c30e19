package main

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	errata "github.com/errata-log/errata"
)

// healthTimeout is shorter than the timeout of common health checks, so that this
// program can still say what is wrong.
const healthTimeout = 4 * time.Second

func newHealthcheck(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "healthcheck",
		Short: "Ask the running service whether it is ready; exit code 0 or 1",
		Long:  "Asks GET /readyz of the running service. Exit code 0: ready, also while an\nalarm stands, which no restart mends. Exit code 1: not ready, or not reached.\nFor container health checks, where no shell and no curl is at hand.",
		RunE: configured(t, func(cmd *cobra.Command, c *config, _ []string) error {
			service, err := newClient(cmd, t, c)
			if err != nil {
				return err
			}
			return healthcheck(cmd, service)
		}),
	}
	addSettings(cmd, "data", "listen", "tls-ca")
	addURL(cmd)
	return cmd
}

func healthcheck(cmd *cobra.Command, service *client) error {
	service.http.Timeout = healthTimeout
	err := service.call(cmd.Context(), http.MethodGet, "/readyz", nil, nil)
	refused, answered := errors.AsType[*apiError](err)
	switch {
	case err == nil:
		_, err = fmt.Fprintln(cmd.OutOrStdout(), "ready")
		return err
	case !answered:
		return err
	case refused.Message == "":
		return fmt.Errorf("not ready: %w", refused)
	case refused.Code == string(errata.KindDegraded):
		_, err = fmt.Fprintln(cmd.OutOrStdout(), "ready:", refused.Message)
		return err
	}
	return fmt.Errorf("not ready: %s", refused.Message)
}
