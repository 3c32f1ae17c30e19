package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/errata-log/errata/datadir"
)

// addressVerificationPath is the route of the check for unfamiliar addresses.
const addressVerificationPath = "/api/v1/admin/settings/security/ip-verification"

const securityHelp = `Changes what is asked at sign-in, from the machine of the service.`

func newSecurity(t *terminal) *cobra.Command {
	return group("security", "Get back in when the sign-in checks keep everybody out", securityHelp,
		newResetIP(t))
}

const resetIPHelp = `Switches the check for unfamiliar addresses off for admins, for when it keeps
them out. The exempt list stays, and so does everything that clients are asked.

The command works on the machine of the running service only: it finds the
service by its data folder and uses the admin key there, keys/admin.key; it takes
no address and no key of its own. The audit trail has the change under that key.
When the file is gone, "errata keys -h" says how to make it again.`

func newResetIP(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reset-ip",
		Short: "Switch the check for unfamiliar addresses off for admins",
		Long:  resetIPHelp,
		RunE: configured(t, func(cmd *cobra.Command, c *config, _ []string) error {
			service, err := hostClient(c)
			if err != nil {
				return err
			}
			off := map[string]any{"admin": map[string]int{"status": 0}}
			if err := service.call(cmd.Context(), http.MethodPut, addressVerificationPath, off, nil); err != nil {
				return fmt.Errorf("switch the check for unfamiliar addresses off: %w", err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "admins are no longer asked when they sign in from an unfamiliar address")
			return err
		}),
	}
	addSettings(cmd, "data")
	return cmd
}

// hostClient is a client of the service that runs on the data folder, with the admin
// key in that folder. Who can read that file administers the machine.
func hostClient(c *config) (*client, error) {
	holder, err := datadir.HolderOf(c.service.Data)
	if err == nil && holder.URL == "" {
		err = errors.New("it is still starting; try again shortly")
	}
	if err != nil {
		return nil, fmt.Errorf("find the service by --data %s: %w", c.service.Data, err)
	}
	key, err := os.ReadFile(filepath.Join(c.service.Data, datadir.AdminKeyFile))
	if err != nil {
		return nil, fmt.Errorf("read the admin key of the first start (\"errata keys -h\" says how to make it again): %w", err)
	}
	service, err := localClient(holder.URL, c)
	if err == nil {
		service.key = strings.TrimSpace(string(key))
	}
	return service, err
}
