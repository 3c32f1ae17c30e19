// Command bench prints how fast the whole way is, each row beside a ceiling
// that is taken in turn with it on the same machine: a null sink for requests,
// raw publishing for batches, reading without folding for the fold.
//
// It starts the real service with its real engines, fsync on. It must not be
// read as a promise in absolute figures: machines differ, ratios travel.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/errata-log/errata/app"
)

// bench is what the rows share: a running service and its keys.
type bench struct {
	out       io.Writer
	dir       string
	rounds    int
	span      time.Duration
	addr      string
	ingestKey string
	adminKey  string
	publicKey string
	engine    string // path of errata-engine
	// peak is the highest rate of single events seen, for the row that runs at half of it.
	peak float64
}

func main() {
	rounds := flag.Int("rounds", 5, "rounds of each row; medians are printed")
	span := flag.Duration("span", 3*time.Second, "length of one run of load")
	rows := flag.String("rows", "single,sentry,ndjson,fold,visible", "rows to measure")
	engine := flag.String("engine", "bin/errata-engine", "path of the embedded ClickHouse")
	profile := flag.String("cpuprofile", "", "write a CPU profile of the rows to this file")
	flag.Parse()
	if path, err := filepath.Abs(*engine); err == nil {
		*engine = path // the child runs in a folder of its own
	}
	if *profile != "" {
		stop, err := startProfile(*profile)
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		defer stop()
	}
	if err := run(*rounds, *span, strings.Split(*rows, ","), *engine); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(rounds int, span time.Duration, rows []string, engine string) (err error) {
	dir, err := os.MkdirTemp("", "errata-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b := &bench{out: os.Stdout, dir: dir, rounds: rounds, span: span, engine: engine}
	fmt.Printf("%d rounds of %v, %d processors, %s, fsync on\n", rounds, span, runtime.NumCPU(), runtime.Version())
	header(b.out)
	table := map[string]func() error{"single": b.single, "sentry": b.sentry, "ndjson": b.ndjson, "fold": b.fold, "visible": b.visible}
	for _, name := range rows {
		measure, ok := table[name]
		if !ok {
			return fmt.Errorf("no row %q", name)
		}
		if err := b.withService(name, measure); err != nil {
			return fmt.Errorf("row %s: %w", name, err)
		}
	}
	return nil
}

// withService runs one row against a fresh service, so that no row inherits
// the backlog of another.
func (b *bench) withService(name string, measure func() error) (err error) {
	if name == "fold" { // brings its own engines
		return measure()
	}
	options := app.DefaultOptions()
	options.Data = filepath.Join(b.dir, name)
	options.Listen = "127.0.0.1:0"
	options.AdminRateLimit = 0
	options.EngineBinary = b.engine
	options.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	service, err := app.New(ctx, options)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- service.Run(ctx) }() // ends with ctx
	defer func() {
		cancel()
		err = errors.Join(err, <-ended)
	}()
	b.addr = service.Addr().String()
	if err := b.readKeys(options.Data); err != nil {
		return err
	}
	return measure()
}

func (b *bench) readKeys(data string) error {
	for name, to := range map[string]*string{"ingest.key": &b.ingestKey, "admin.key": &b.adminKey, "dsn": &b.publicKey} {
		text, err := os.ReadFile(filepath.Join(data, "keys", name))
		if err != nil {
			return err
		}
		*to = strings.TrimSpace(string(text))
	}
	_, rest, _ := strings.Cut(b.publicKey, "://")
	b.publicKey, _, _ = strings.Cut(rest, "@")
	return nil
}

// startProfile writes a CPU profile until the returned function is called.
func startProfile(path string) (stop func(), err error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() {
		pprof.StopCPUProfile()
		if err := f.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
	}, nil
}
