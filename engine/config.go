package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/datadir"
)

const (
	// DefaultDatabase is the ClickHouse database when neither Config.Database
	// nor the DSN names one.
	DefaultDatabase = "errata_store"
	// DefaultViews is the database of the views on the tables in DefaultDatabase.
	// Analysts query errata.records.
	DefaultViews = "errata"

	// DefaultLogMaxBytes bounds the log where the disk has room for it. 10 GiB hold
	// some 45 million events.
	DefaultLogMaxBytes = 10 << 30

	// DefaultClickHouseMemory bounds the embedded ClickHouse. Merges and large sorts
	// may reach it; an idle ClickHouse uses about 60 MiB.
	DefaultClickHouseMemory = 2 << 30

	defaultConnectTimeout = 15 * time.Second
	// connectRetryWait is the pause between two tries in that time.
	connectRetryWait = 100 * time.Millisecond

	// leastLogRoom is the room of a log without a configured bound on a full disk,
	// in bytes.
	leastLogRoom = 8 << 20
)

// Config says which engines to use and where the embedded ones keep their data.
type Config struct {
	Options
	// Dir is the data folder, which this process holds; nil is possible only
	// where both engines are external.
	Dir *datadir.Dir
	// Publish are the subjects that applications may publish to, when NATSListen is
	// set.
	Publish []string

	// ClickHouseLater lets Start succeed while ClickHouse is away. The connections
	// work once it is back and [Engines.PrepareClickHouse] has succeeded.
	ClickHouseLater bool
	// ClickHouseMemory bounds the embedded ClickHouse in bytes, 0 means 2 GiB.
	ClickHouseMemory int64

	// CAFile has certificate authorities, in PEM, that an ingest node trusts for its hub
	// beside those of the system, "" for none.
	CAFile string

	// ConnectTimeout is how long an external engine may take to appear, so
	// that services that are started together find each other. 0 means 15 s.
	ConnectTimeout time.Duration

	// Database is the ClickHouse database, which is made when it is absent. ""
	// means the one that the DSN names, else "errata_store".
	Database string

	// Logger is slog.Default() when nil.
	Logger *slog.Logger
	// Registerer takes the metrics; nil for none.
	Registerer prometheus.Registerer
}

// databaseName matches the names that a statement may hold without quotes. The
// name of a database cannot be a bound parameter.
var databaseName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)

// ViewsDatabase is the database of the views on the tables in that database.
func ViewsDatabase(tables string) string {
	if tables == DefaultDatabase {
		return DefaultViews
	}
	return tables + "_views"
}

// path is the path of a file or folder below Dir, "" when Dir is nil.
func (c Config) path(name string) string {
	if c.Dir == nil {
		return ""
	}
	return c.Dir.Join(name)
}

func (c Config) withDefaults() (Config, error) {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.ClickHouseMemory == 0 {
		c.ClickHouseMemory = DefaultClickHouseMemory
	}
	if err := c.Validate(); err != nil {
		return c, fmt.Errorf("engine: %w", err)
	}
	switch {
	case c.Dir == nil && (c.NATSURL == "" || c.ClickHouseDSN == ""):
		return c, errors.New("engine: Dir must be set, an embedded engine keeps its data there")
	case c.ClickHouseMemory < 256<<20:
		return c, fmt.Errorf("engine: ClickHouseMemory is %d and must be at least %d (256 MiB)", c.ClickHouseMemory, 256<<20)
	case c.Database != "" && !databaseName.MatchString(c.Database):
		return c, fmt.Errorf("engine: Database %q must be letters, digits and _, not beginning with a digit", c.Database)
	}
	return c, nil
}
