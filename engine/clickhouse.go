package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/internal/background"
)

const (
	// clickHouseDialTimeout bounds waiting for a connection, new or pooled.
	clickHouseDialTimeout = 5 * time.Second
	// clickHouseMaxConns is more than the projector and the readers of one service
	// use at once. Further queries wait.
	clickHouseMaxConns = 16
	clickHouseMaxIdle  = 8
	// clickHouseBuffer is how many bytes of an insert are gathered before they are compressed and
	// sent. A connection keeps what it has gathered once, and the driver's 10 MiB became 130 MB after a flood.
	clickHouseBuffer = 1 << 20
	// readerSeconds bounds a query on the read-only connection without a deadline.
	readerSeconds = 10
)

// ClickHouseConfig describes the ClickHouse to use.
type ClickHouseConfig struct {
	// DSN is an external ClickHouse; "" for the embedded one.
	DSN string
	// Database: see [Config.Database].
	Database string
	// ConnectTimeout: see [Config.ConnectTimeout].
	ConnectTimeout time.Duration

	// DataDir holds the tables of the embedded engine, RunDir the files of one start.
	// Both are made when absent. One engine at a time may use them.
	DataDir, RunDir string
	// EngineBinary, Library: see [Options.EngineBinary].
	EngineBinary, Library string
	// Memory bounds the embedded engine in bytes, 0 means 2 GiB.
	Memory int64

	// AnalystPassword is the password of the user for analysts of the embedded engine; ""
	// makes a new one for each start.
	AnalystPassword string

	// Later: see [Config.ClickHouseLater].
	Later bool

	// Logger is slog.Default() when nil.
	Logger *slog.Logger
	// Registerer takes the metrics; nil for none.
	Registerer prometheus.Registerer
}

// ClickHouse is a connection to ClickHouse, and the child process behind it if
// it is embedded.
type ClickHouse struct {
	child           *child // nil when external
	options         *clickhouse.Options
	readOnlyOptions *clickhouse.Options
	conn            driver.Conn
	readOnly        driver.Conn

	restarts   prometheus.Counter
	registerer prometheus.Registerer // that has restarts, nil when none has

	stopOnce sync.Once
	stopErr  error
}

// StartClickHouse connects to ClickHouse, and makes the database if there is none.
// It starts the embedded engine first when there is no DSN.
func StartClickHouse(ctx context.Context, cfg ClickHouseConfig) (_ *ClickHouse, err error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	cfg.Memory = cmp.Or(cfg.Memory, DefaultClickHouseMemory)
	cfg.ConnectTimeout = cmp.Or(cfg.ConnectTimeout, defaultConnectTimeout)
	ch := &ClickHouse{restarts: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "errata_clickhouse_restarts_total",
		Help: "How often the embedded ClickHouse ended by itself and was started again.",
	})}
	defer func() {
		if err != nil {
			err = errors.Join(err, ch.Stop(context.WithoutCancel(ctx)))
		}
	}()
	if cfg.DSN != "" {
		ch.options, ch.readOnlyOptions, err = externalOptions(cfg)
	} else {
		ch.options, ch.readOnlyOptions, err = ch.embed(ctx, cfg)
	}
	if err != nil {
		return nil, err
	}
	if !cfg.Later {
		if err = ensureDatabase(ctx, ch.options, cfg.ConnectTimeout, ch.child != nil); err != nil {
			return nil, fmt.Errorf("engine: %w", err)
		}
	}
	if ch.conn, err = clickhouse.Open(ch.options); err != nil {
		return nil, fmt.Errorf("engine: connect to ClickHouse: %w", err)
	}
	if ch.readOnly, err = clickhouse.Open(ch.readOnlyOptions); err != nil {
		return nil, fmt.Errorf("engine: connect to ClickHouse for reading: %w", err)
	}
	return ch, nil
}

// embed starts the child and returns the options of its two users.
func (ch *ClickHouse) embed(ctx context.Context, cfg ClickHouseConfig) (writer, reader *clickhouse.Options, err error) {
	if cfg.Database == "" {
		cfg.Database = DefaultDatabase
	}
	// The library first: on a new machine it is what is missing.
	if cfg.Library, err = FindLibrary(cfg.Library); err != nil {
		return nil, nil, err
	}
	if cfg.EngineBinary, err = findBinary(cfg.EngineBinary); err != nil {
		return nil, nil, err
	}
	if ch.child, err = startChild(ctx, cfg, ch.restarts.Inc); err != nil {
		return nil, nil, err
	}
	if cfg.Registerer != nil {
		if err := cfg.Registerer.Register(ch.restarts); err != nil {
			return nil, nil, fmt.Errorf("engine: register the metrics of the embedded ClickHouse: %w", err)
		}
		ch.registerer = cfg.Registerer
	}
	options := func(user, password string) *clickhouse.Options {
		return baseOptions(&clickhouse.Options{
			Addr:        []string{"embedded"}, // dial knows the address
			DialContext: ch.child.dial,
			Auth:        clickhouse.Auth{Database: cfg.Database, Username: user, Password: password},
		})
	}
	return options(writerUser, ch.child.keys.writer), options(readerUser, ch.child.keys.reader), nil
}

// externalOptions reads the DSN.
func externalOptions(cfg ClickHouseConfig) (writer, reader *clickhouse.Options, err error) {
	const form = "clickhouse://user:password@host:9000/database"
	options, err := clickhouse.ParseDSN(cfg.DSN)
	if err != nil {
		// The text of a *url.Error repeats the DSN with its password.
		if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return nil, nil, fmt.Errorf("engine: the ClickHouse DSN is not of the form %s: %w", form, err)
	}
	if !strings.HasPrefix(cfg.DSN, "clickhouse://") && !strings.HasPrefix(cfg.DSN, "tcp://") {
		return nil, nil, fmt.Errorf("engine: the ClickHouse DSN is not of the form %s: only the native protocol is spoken", form)
	}
	if cfg.Database != "" {
		options.Auth.Database = cfg.Database
	}
	if options.Auth.Database == "" {
		options.Auth.Database = DefaultDatabase
	}
	if !databaseName.MatchString(options.Auth.Database) {
		return nil, nil, fmt.Errorf("engine: the database %q must be letters, digits and _, not beginning with a digit", options.Auth.Database)
	}
	writer = baseOptions(options)
	reader = copyOptions(writer)
	reader.Settings["readonly"] = 2
	reader.Settings["max_execution_time"] = readerSeconds
	return writer, reader, nil
}

// baseOptions sets the options that all connections share.
func baseOptions(o *clickhouse.Options) *clickhouse.Options {
	if o.Settings == nil {
		o.Settings = clickhouse.Settings{}
	}
	// One insert must be one block that is written before it is answered.
	o.Settings["async_insert"] = 0
	// The rows of an insert are folded already. To merge them once more before they are
	// written costs a tenth of the fold of new problems.
	o.Settings["optimize_on_insert"] = 0
	// As in users.xml.tmpl: compiling an expression takes 30 to 50 ms and saves less
	// than 1 ms.
	for _, name := range []string{"compile_expressions", "compile_aggregate_expressions", "compile_sort_description"} {
		o.Settings[name] = 0
	}
	o.Compression = &clickhouse.Compression{Method: clickhouse.CompressionLZ4}
	o.MaxCompressionBuffer = clickHouseBuffer
	o.DialTimeout = clickHouseDialTimeout
	o.MaxOpenConns, o.MaxIdleConns = clickHouseMaxConns, clickHouseMaxIdle
	return o
}

// ensureDatabase waits for the server and makes the database if there is none.
func ensureDatabase(ctx context.Context, options *clickhouse.Options, timeout time.Duration, embedded bool) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	bare := *options
	bare.Auth.Database = "" // a database that does not exist cannot be selected
	conn, err := clickhouse.Open(&bare)
	if err != nil {
		return fmt.Errorf("connect to ClickHouse: %w", err)
	}
	defer conn.Close()
	for {
		if err = createDatabase(ctx, conn, options.Auth.Database, embedded); err == nil {
			return nil
		}
		// A retry does not help when ClickHouse has answered.
		if answer := (*clickhouse.Exception)(nil); errors.As(err, &answer) || errors.Is(err, errNoRoom) {
			return err
		}
		if !background.Wait(ctx, connectRetryWait) {
			return fmt.Errorf("connect to ClickHouse: %w: %w", errAway, err)
		}
	}
}

func createDatabase(ctx context.Context, conn driver.Conn, name string, embedded bool) error {
	if name == DefaultDatabase {
		if err := makeRoom(ctx, conn, embedded); err != nil {
			return err
		}
	}
	var there uint64
	row := conn.QueryRow(ctx, "SELECT count() FROM system.databases WHERE name = ?", name)
	if err := row.Scan(&there); err != nil {
		return fmt.Errorf("look for the ClickHouse database %s: %w", name, err)
	}
	if there > 0 { // a user without the right to create it may still use it
		return nil
	}
	// The name matches databaseName. It cannot be a bound parameter.
	if err := conn.Exec(ctx, "CREATE DATABASE IF NOT EXISTS `"+name+"`"); err != nil {
		return fmt.Errorf("create the ClickHouse database %s: %w", name, err)
	}
	return nil
}

// Conn is the connection; see [Engines.ClickHouse].
func (ch *ClickHouse) Conn() driver.Conn { return ch.conn }

// ReadOnly is the second connection; see [Engines.ReadOnlyClickHouse].
func (ch *ClickHouse) ReadOnly() driver.Conn { return ch.readOnly }

// Options are a copy of the options of [ClickHouse.Conn].
func (ch *ClickHouse) Options() *clickhouse.Options { return copyOptions(ch.options) }

// ReadOnlyOptions are a copy of the options of [ClickHouse.ReadOnly].
func (ch *ClickHouse) ReadOnlyOptions() *clickhouse.Options { return copyOptions(ch.readOnlyOptions) }

func copyOptions(o *clickhouse.Options) *clickhouse.Options {
	copied := *o
	copied.Settings = maps.Clone(o.Settings)
	return &copied
}

// Database is the name of the selected database.
func (ch *ClickHouse) Database() string { return ch.options.Auth.Database }

// Process is the process id of the embedded engine; see
// [Engines.EmbeddedClickHouse].
func (ch *ClickHouse) Process() (pid int, ok bool) {
	if ch.child == nil {
		return 0, false
	}
	return ch.child.pid()
}

// Stop closes the connections and then ends the embedded engine, which would wait
// for an open connection. It may be called more than once; later calls return the
// error of the first.
func (ch *ClickHouse) Stop(ctx context.Context) error {
	ch.stopOnce.Do(func() {
		var errs []error
		for _, conn := range []driver.Conn{ch.readOnly, ch.conn} {
			if conn != nil {
				errs = append(errs, conn.Close())
			}
		}
		if ch.child != nil {
			errs = append(errs, ch.child.stop(ctx))
		}
		if ch.registerer != nil {
			ch.registerer.Unregister(ch.restarts)
		}
		ch.stopErr = errors.Join(errs...)
	})
	return ch.stopErr
}
