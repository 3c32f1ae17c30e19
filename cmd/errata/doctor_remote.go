package main

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/errata-log/errata/datadir"
)

// remoteChecks check the running service. It is no failure when none runs here and
// --url names none.
func remoteChecks(cmd *cobra.Command, t *terminal, c *config) []finding {
	f := finding{Check: "service"}
	holder, err := datadir.HolderOf(c.service.Data)
	named := flagOrEnv(cmd, t, "url") != ""
	if err != nil && !named {
		if !errors.Is(err, datadir.ErrNotRunning) {
			return []finding{f.failed(err.Error(), "run as the user of the service")}
		}
		return []finding{f.skipped("none runs on the data folder; name one with --url")}
	}
	service, err := newClient(cmd, t, c)
	if err != nil {
		return []finding{f.failed(err.Error(), "mend tls-ca, or leave it out")}
	}
	running := service.url
	if !named {
		running = fmt.Sprintf("process %d at %s", holder.PID, service.url)
	}
	clock, err := checkServiceClock(cmd, service)
	if err != nil {
		return []finding{f.failed(running+": "+err.Error(), "look at the log of the service, or name the right --url")}
	}
	findings := []finding{f.ok(running), clock}
	f.Check = "status"
	if service.key, err = readKey(cmd, t, c); err != nil {
		return append(findings, f.skipped(err.Error()))
	}
	return append(findings, askStatus(cmd, service)...)
}

// checkServiceClock compares the clocks of this machine and of the service. The error
// says that no Errata answers.
func checkServiceClock(cmd *cobra.Command, service *client) (finding, error) {
	f := finding{Check: "service clock"}
	var answer struct {
		Pong bool      `json:"pong"`
		Time time.Time `json:"time"`
	}
	sent := time.Now()
	if err := service.call(cmd.Context(), http.MethodGet, "/api/v1/admin/ping", nil, &answer); err != nil {
		return f, err
	}
	if !answer.Pong {
		return f, errors.New("something answers that is not Errata")
	}
	// The service read its clock between sent and now.
	early, late := sent.Sub(answer.Time), time.Until(answer.Time)
	if skew := max(early, late); skew > clockSkew {
		return f.failed(fmt.Sprintf("it is %s there, at least %v away from here", answer.Time.Format(time.RFC3339), skew.Round(time.Second)),
			"let a time service keep both clocks"), nil
	}
	return f.ok(answer.Time.Format(time.RFC3339)), nil
}

// askStatus gets the checks of the service.
func askStatus(cmd *cobra.Command, service *client) []finding {
	var status struct {
		Checks []struct {
			Name   string `json:"name"`
			OK     bool   `json:"ok"`
			Detail string `json:"detail"`
			Hint   string `json:"hint"`
		} `json:"checks"`
	}
	err := service.call(cmd.Context(), http.MethodGet, "/api/v1/admin/ops/status", nil, &status)
	f := finding{Check: "status"}
	var refused *apiError
	if errors.As(err, &refused) && (refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden) {
		return []finding{f.failed(err.Error(), "give an admin key with --key @FILE or ERRATA_KEY")}
	}
	if err != nil {
		return []finding{f.failed(err.Error(), "look at the log of the service")}
	}
	var findings []finding
	for _, check := range status.Checks {
		f := finding{Check: check.Name, State: stateOK, Detail: check.Detail}
		if !check.OK {
			f.State, f.Fix = stateFailed, check.Hint
		} else if check.Hint != "" {
			f.State, f.Fix = stateWarning, check.Hint
		}
		findings = append(findings, f)
	}
	return findings
}
