package geo

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"sync/atomic"
	"time"

	"github.com/oschwald/maxminddb-golang/v2"

	"github.com/errata-log/errata/signin"
)

const (
	// moduleKey is the name of the module in settings.
	moduleKey = "mmdb"
	// maxBytes is several times the size of the largest city database; a larger
	// file is something else.
	maxBytes = 1 << 30
)

// Database answers from one file. All methods may be called at once from many
// goroutines.
type Database struct {
	reader atomic.Pointer[maxminddb.Reader] // nil once closed
	info   Info
}

// Info says what a database is, for doctor.
type Info struct {
	// Path is the file.
	Path string
	// Type is the name that its maker gives it, such as "GeoLite2-City".
	Type string
	// Built is when it was made.
	Built time.Time
	// Bytes is its size, on disk and in memory.
	Bytes int64
	// Tells is what it can tell; Country is always among it.
	Tells
}

// Use opens the database in the file named or, where none is named, in dir. It
// is nil where dir has none. One in dir that cannot be read is logged and also
// gives nil, because the service must start. There is an error only for a file
// that was named; it names the setting.
func Use(named, dir string, logger *slog.Logger) (*Database, error) {
	db, err := openIn(named, dir)
	switch {
	case err == nil:
		return db, nil
	case named != "":
		return nil, fmt.Errorf("geo-database: %w", err)
	case !errors.Is(err, errNotInstalled):
		logger.Warn("the location database cannot be used, so that unfamiliar places are not recognised; replace it and restart", "error", err)
	}
	return nil, nil //nolint:nilnil // the service works without one
}

// Look describes the database that [Use] would open; the zero Info when there
// is none.
func Look(named, dir string) (Info, error) {
	db, err := openIn(named, dir)
	if errors.Is(err, errNotInstalled) {
		return Info{}, nil
	}
	if err != nil {
		return Info{}, err
	}
	defer db.Close()
	return db.info, nil
}

func openIn(named, dir string) (db *Database, err error) {
	if named == "" {
		if named, err = find(dir); err != nil {
			return nil, err
		}
	}
	return open(named)
}

// open reads a database into memory. Mapping the file would save it, and would
// end the process with SIGBUS when somebody copies a newer one over it. A new
// file is seen when it is opened anew.
func open(path string) (*Database, error) {
	data, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("open the location database: %w", err)
	}
	db, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("open the location database %s: %w", path, err)
	}
	db.info.Path = path
	return db, nil
}

func read(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	stat, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !stat.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	case stat.Size() > maxBytes:
		return nil, fmt.Errorf("%s has %d bytes; a location database has at most %d", path, stat.Size(), maxBytes)
	}
	data := make([]byte, stat.Size())
	if _, err := io.ReadFull(file, data); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}

func parse(data []byte) (*Database, error) {
	reader, err := maxminddb.OpenBytes(data)
	if err != nil {
		return nil, fmt.Errorf("not a database in MaxMind's format, or cut short: %w", err)
	}
	db := &Database{info: Info{
		Type: clean(reader.Metadata.DatabaseType), Built: reader.Metadata.BuildTime().UTC(), Bytes: int64(len(data)),
	}}
	if db.info.Tells = tellsOf(reader); !db.info.Country {
		return nil, errors.New("it does not tell countries; take a country or a city database")
	}
	db.reader.Store(reader)
	return db, nil
}

// Lookup is where an address is registered. known is false for an address that
// belongs to no country (private, loopback and the like), that the database
// does not have, or whose entry cannot be read, and after [Database.Close].
func (d *Database) Lookup(addr netip.Addr) (place signin.Place, known bool) {
	reader := d.reader.Load()
	addr = addr.Unmap().WithZone("")
	if reader == nil || !located(addr) {
		return place, false
	}
	return placeOf(reader.Lookup(addr))
}

// Module is the database as the location module that settings can choose.
func (d *Database) Module() signin.LocationModule {
	return signin.LocationModule{Key: moduleKey, Country: d.info.Country, Region: d.info.Region, City: d.info.City}
}

// Info is what the database is.
func (d *Database) Info() Info { return d.info }

// Close frees the memory once the running lookups have ended. It may be called
// more than once.
func (d *Database) Close() { d.reader.Store(nil) }
