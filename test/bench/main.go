// Command bench prints the speed of the service from request to list. Each row
// stands beside a ceiling that is measured in turn with it on the same machine: a
// null sink for requests, raw publishing for batches, reading without folding for
// the fold.
//
// It starts the real service with its real engines, fsync on. Do not compare its
// absolute figures between machines; compare the ratios.
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
	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/internal/memory"
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
	stocks    string // folder of kept stocks, or ""
	steadyFor time.Duration
	idleFor   time.Duration
	floodFor  time.Duration
	// floodOf is how many new problems the flood sends, floodBatch at a time.
	floodOf, floodBatch int
	// alertRules is how many rules of alerts are in force in the row fold and in those with
	// a service.
	alertRules ruleCounts
	queries    string // prefix of the queries that the list row runs
	sizes      sizes
	corpus     corpus // what the service was filled with before it started
}

// sizes are the sizes of the rows about stored records.
type sizes struct {
	lists []int // records, one run of the list row for each
	// occurrences has one run of the occurrences row for each.
	occurrences []int
	changed     int // records of the delete and cleanup rows
	events      int // events of the replay row
	lines       int // lines of the file of the import row
	// folded, replayed and seen are numbers of signatures. The rows fold, replay and visible run
	// once for each number.
	folded, replayed, seen []int
}

var defaultSizes = sizes{
	lists: []int{100_000}, occurrences: []int{2_000_000}, changed: 1_000_000, events: 1_000_000, lines: 1_000_000,
	folded: []int{100, 1_000_000}, replayed: []int{100_000, 1_000_000}, seen: []int{100, 1_000_000},
}

const allRows = "flood,single,sentry,sentry-cpu,ndjson,otlp,fold,visible,list,occurrences,steady,delete,cleanup,cleanup-quiet,replay,import,fold-rules,ingest-rules,bounds,idle"

func main() {
	b := &bench{out: os.Stdout, sizes: defaultSizes}
	// As the service does.
	sized := memory.Size(os.LookupEnv, true, slog.New(slog.DiscardHandler))
	go sized.Tend(context.Background()) // ends with the process
	background.WakeTogether()
	flag.IntVar(&b.rounds, "rounds", 5, "rounds of each row; medians are printed")
	flag.DurationVar(&b.span, "span", 3*time.Second, "length of one run of load")
	rows := flag.String("rows", allRows, "rows to measure")
	flag.Var((*sizesFlag)(&b.sizes.lists), "records", "records of the list and steady rows, a list such as 100k,1M,10M")
	flag.Var((*sizesFlag)(&b.sizes.occurrences), "occurrences", "occurrences of the occurrences row, a list such as 2M,20M")
	flag.Var((*sizeFlag)(&b.sizes.changed), "change-records", "records of the delete and cleanup rows")
	flag.Var((*sizeFlag)(&b.sizes.events), "events", "events of the replay row")
	flag.StringVar(&b.engine, "engine", "bin/errata-engine", "path of the embedded ClickHouse")
	profile := flag.String("cpuprofile", "", "write a CPU profile of the rows to this file")
	flag.Var((*sizeFlag)(&b.sizes.lines), "lines", "lines of the file of the import row")
	flag.Var((*sizesFlag)(&b.sizes.folded), "fold-signatures", "signatures of the fold row, a list")
	flag.Var((*sizesFlag)(&b.sizes.replayed), "replay-signatures", "signatures of the replay row, a list")
	flag.Var((*sizesFlag)(&b.sizes.seen), "visible-signatures", "signatures of the visible row, a list")
	flag.StringVar(&b.stocks, "stocks", "", "keep the filled stocks of the list, occurrences and steady rows in this folder, and use those that are there")
	flag.StringVar(&b.queries, "queries", "", "run only the queries of the list row whose names begin so")
	flag.DurationVar(&b.floodFor, "flood", time.Minute, "length of the time before the flood, and of those beside a null sink")
	flag.IntVar(&b.floodOf, "flood-problems", 100_000, "new problems of the flood")
	flag.IntVar(&b.floodBatch, "flood-batch", 1, "events in a request of the flood; it must divide the problems")
	flag.IntVar(&b.alertRules.records, "alert-rules", 0, "rules of alerts about records that are in force in the row fold and in those with a service")
	flag.IntVar(&b.alertRules.projects, "alert-project-rules", 0, "likewise rules about projects: spike and quiet")
	flag.DurationVar(&b.steadyFor, "steady", time.Minute, "length of the steady row")
	flag.DurationVar(&b.idleFor, "idle", time.Minute, "length of the idle row, and of the rest before it")
	flag.Parse()
	if path, err := filepath.Abs(b.engine); err == nil {
		b.engine = path // the child runs in a folder of its own
	}
	if err := b.profiled(*profile, strings.Split(*rows, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// profiled measures the rows and writes a CPU profile of them to the path, if
// there is one.
func (b *bench) profiled(path string, rows []string) error {
	if path == "" {
		return b.run(rows)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return errors.Join(err, f.Close())
	}
	err = b.run(rows)
	pprof.StopCPUProfile()
	return errors.Join(err, f.Close())
}

func (b *bench) run(rows []string) (err error) {
	b.dir, err = os.MkdirTemp("", "errata-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	fmt.Fprintf(b.out, "%d rounds of %v, %d processors, %s, fsync on\n", b.rounds, b.span, runtime.NumCPU(), runtime.Version())
	header(b.out)
	for _, name := range rows {
		m, ok := b.measures()[name]
		if !ok {
			return fmt.Errorf("no row %q, there are %s", name, allRows)
		}
		if err := b.measure(name, m); err != nil {
			return fmt.Errorf("row %s: %w", name, err)
		}
	}
	return nil
}

// measure is how a row is measured.
type measure struct {
	do func() error
	// alone rows start their own engines, the others get a new service.
	alone bool
	// prefilled rows get a service with the corpus in it.
	prefilled bool
}

func (b *bench) measures() map[string]measure {
	return map[string]measure{
		"otlp":   {do: b.otlp},
		"flood":  {do: b.flood, alone: true},
		"single": {do: b.single}, "sentry": {do: b.sentry}, "ndjson": {do: b.ndjson}, "visible": {do: b.visible}, "import": {do: b.imports},
		"sentry-cpu": {do: b.sentryCPU, alone: true}, "bounds": {do: b.bounds, alone: true}, "fold-rules": {do: b.foldRules, alone: true}, "ingest-rules": {do: b.ingestRules, alone: true},
		"fold": {do: b.fold, alone: true}, "list": {do: b.list, alone: true}, "occurrences": {do: b.occurrences, alone: true}, "replay": {do: b.replay, alone: true},
		"steady": {do: b.steadyState, alone: true}, "idle": {do: b.idle, alone: true},
		"delete": {do: b.deletes, prefilled: true}, "cleanup": {do: b.cleanup, prefilled: true}, "cleanup-quiet": {do: b.quietCleanup, prefilled: true},
	}
}

func (b *bench) measure(name string, m measure) error {
	if m.alone {
		return m.do()
	}
	if m.prefilled {
		if err := b.prefill(name); err != nil {
			return fmt.Errorf("fill: %w", err)
		}
	}
	return b.withService(name, unlimited(), func() error {
		if err := b.makeRules(b.alertRules); err != nil {
			return err
		}
		return m.do()
	})
}

// unlimited lets one key send all it can.
func unlimited() app.Options {
	options := app.DefaultOptions()
	options.KeyEventsPerMinute, options.ProjectEventsPerMinute, options.NewRecordsPerHour = 0, 0, 0
	return options
}

// withService runs one row with a service of its own, so that no row inherits the
// backlog of another.
func (b *bench) withService(name string, options app.Options, measure func() error) (err error) {
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
		err = errors.Join(err, <-ended, os.RemoveAll(options.Data))
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
