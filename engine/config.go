package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// DefaultDatabase is the ClickHouse database when neither Config.Database
	// nor the DSN names one.
	DefaultDatabase = "errata_store"
	// DefaultViews is the database of the views on the tables in
	// DefaultDatabase: what analysts call errata.records.
	DefaultViews = "errata"

	// DefaultLogMaxBytes bounds the log where the disk has room for it: 10 GiB
	// hold some 45 million events.
	DefaultLogMaxBytes = 10 << 30

	// DefaultClickHouseMemory bounds the embedded ClickHouse. It is a ceiling
	// for merges and large sorts, not what it uses: that is about 60 MiB idle.
	DefaultClickHouseMemory = 2 << 30

	defaultConnectTimeout = 15 * time.Second
	// connectRetryWait is how often an external engine is tried in that time.
	connectRetryWait = 100 * time.Millisecond

	// minLogMaxBytes is below what one busy second may write; less than that
	// is a slip of the unit.
	minLogMaxBytes = 8 << 20
)

// Config says which engines to use and where the embedded ones keep their data.
type Config struct {
	// DataDir is the folder of the embedded engines. One service at a time may
	// use it. It may be empty when both engines are external.
	DataDir string

	// NATSURL is an external NATS ("nats://host:4222"), "" for the embedded one.
	NATSURL string
	// ClickHouseDSN is an external ClickHouse
	// ("clickhouse://user:password@host:9000/database"), "" for the embedded one.
	ClickHouseDSN string

	// NATSClients opens the embedded NATS to applications that publish events.
	// It cannot be used with an external one, which has users of its own.
	NATSClients NATSClients

	// NATSHub makes this an ingest node: the embedded NATS is a leaf of the
	// hub's, and there is no ClickHouse.
	NATSHub NATSHub
	// NATSLeaves opens the embedded NATS to ingest nodes.
	NATSLeaves NATSLeaves

	// LogMaxBytes is the room of the log in bytes; publishing into a full log
	// is refused. 0 means 10 GiB, but at most 80 % of what the disk has.
	LogMaxBytes int64

	// LazySync lets the embedded NATS answer before the disk has the events,
	// which is a few times faster for single events. It costs safety: a power
	// cut loses everything acknowledged in the last two minutes, and can lose
	// the whole log. Leave it off unless the log is replicated.
	LazySync bool

	// ClickHouseLater lets Start succeed while ClickHouse is away. The connections
	// work when it is back; [Engines.PrepareClickHouse] must have succeeded before.
	ClickHouseLater bool

	// EngineBinary is the path of errata-engine, "" to look beside the running
	// program. Library is the path of libchdb.so, "" to look at
	// $ERRATA_LIBCHDB, beside the running program, and in the cache folder.
	EngineBinary, Library string

	// ClickHouseMemory bounds the embedded ClickHouse in bytes, 0 means 2 GiB.
	ClickHouseMemory int64

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

// databaseName is what may be written into a statement without quoting; a
// database's name cannot be a bound parameter.
var databaseName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)

// ViewsDatabase is the database of the views on the tables in that database.
func ViewsDatabase(tables string) string {
	if tables == DefaultDatabase {
		return DefaultViews
	}
	return tables + "_views"
}

func (c Config) withDefaults() (Config, error) {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.ClickHouseMemory == 0 {
		c.ClickHouseMemory = DefaultClickHouseMemory
	}
	switch {
	case c.DataDir == "" && (c.NATSURL == "" || c.ClickHouseDSN == ""):
		return c, errors.New("engine: DataDir must be set, an embedded engine keeps its data there")
	case c.LogMaxBytes != 0 && c.LogMaxBytes < minLogMaxBytes:
		return c, fmt.Errorf("engine: LogMaxBytes is %d and must be at least %d (8 MiB)", c.LogMaxBytes, minLogMaxBytes)
	case c.NATSURL != "" && c.NATSClients.Addr != "":
		return c, errors.New("engine: NATSClients opens the embedded NATS, and NATSURL names another one: applications publish there")
	case c.NATSHub.URL != "" && (c.NATSURL != "" || c.ClickHouseDSN != "" || c.NATSLeaves.Addr != ""):
		return c, errors.New("engine: NATSHub makes an ingest node, which has neither servers elsewhere nor leaves of its own")
	case c.NATSURL != "" && c.NATSLeaves.Addr != "":
		return c, errors.New("engine: NATSLeaves opens the embedded NATS, and NATSURL names another one")
	case c.ClickHouseMemory < 256<<20:
		return c, fmt.Errorf("engine: ClickHouseMemory is %d and must be at least %d (256 MiB)", c.ClickHouseMemory, 256<<20)
	case c.Database != "" && !databaseName.MatchString(c.Database):
		return c, fmt.Errorf("engine: Database %q must be letters, digits and _, not beginning with a digit", c.Database)
	}
	return c, nil
}
