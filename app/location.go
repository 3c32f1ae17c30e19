package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/errata-log/errata/signin"
	"github.com/errata-log/errata/signin/geo"
)

// ErrNoLocationDatabase says that there is none, and how to get one.
var ErrNoLocationDatabase = geo.ErrNotInstalled

const (
	// locationModule is the key of the module that reads the database.
	locationModule = "mmdb"
	// geoDir is the folder in the data folder where databases are looked for.
	geoDir = "geo"
)

// openLocation reads the location database, where there is one. One that was
// named must be there; one that was found and cannot be read is no reason to
// take no errors.
func (a *App) openLocation(context.Context) error {
	db, err := a.options.openDatabase()
	switch {
	case errors.Is(err, ErrNoLocationDatabase):
		return nil
	case err != nil && a.options.GeoDatabase != "":
		return fmt.Errorf("geo-database: %w", err)
	case err != nil:
		a.logger.Warn("the location database is not used; sign-ins from unfamiliar places cannot be told", "error", err)
		return nil
	}
	a.places = db
	a.cleanups.addPlain("location database", db.Close)
	tells := db.Tells()
	a.options.LocationModules = append(slices.Clone(a.options.LocationModules), signin.LocationModule{
		Key: locationModule, Country: tells.Country, Region: tells.Region, City: tells.City,
	})
	return nil
}

func (o Options) openDatabase() (*geo.Database, error) {
	path := o.GeoDatabase
	if path == "" {
		var err error
		if path, err = geo.Find(filepath.Join(o.Data, geoDir)); err != nil {
			return nil, err
		}
	}
	return geo.Open(path)
}

// CheckLocation reads the location database that the service would use. It is
// ErrNoLocationDatabase when there is none.
func CheckLocation(o Options) (geo.Info, geo.Tells, error) {
	db, err := o.openDatabase()
	if err != nil {
		return geo.Info{}, geo.Tells{}, err
	}
	defer db.Close()
	return db.Info(), db.Tells(), nil
}

// InstallLocation brings the free location database into the data folder.
func InstallLocation(ctx context.Context, o Options) (geo.Installed, error) {
	return geo.Install(ctx, filepath.Join(o.Data, geoDir))
}
