package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/errata-log/errata/signin/geo"
)

const geoHelp = `Brings what is needed to tell where a sign-in comes from. No address leaves
the machine: places are looked up in a file on its own disk.`

func newGeo(t *terminal) *cobra.Command {
	return group("geo", "Bring a location database", geoHelp,
		newGeoInstall(t))
}

const geoInstallHelp = `Brings a free country database by npm into DATA/geo, with the texts of its
licence, and replaces an older one. It is one exact version, whose SHA-256 is
checked before anything is unpacked. The service reads it at its next start; then
choose the module mmdb in the setting localization.

Without npm, put any .mmdb file that tells countries into DATA/geo by hand, or
name it with --geo-database.`

func newGeoInstall(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Bring the free country database into the data folder",
		Long:  geoInstallHelp,
		RunE: configured(t, func(cmd *cobra.Command, c *config, _ []string) error {
			got, err := geo.Install(cmd.Context(), c.service.GeoDir())
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s of %s, %s, from %s\nlicence: %s\n",
				got.Path, got.Type, got.Built.Format("2006-01-02"), roundSize(got.Bytes), got.Package, got.Licence)
			return err
		}),
	}
	addSettings(cmd, "data")
	return cmd
}
