package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/errata-log/errata/test/gate/disk"
)

// gate is one run of the faults.
type gate struct {
	binary string // errata, with errata-engine beside it
	dir    string // for data; removed at the end
	out    string // for reports and logs; stays
	form   string
	seed   uint64
	noRoot bool
	slack  float64

	times           int // how often each fault is injected, 0: as the form says
	batch, problems int
	pace            time.Duration // between two requests of a sender
	parallel        int           // damaged services at once: they mostly wait
	damage          string        // prefixes of the damages to do, "" for all

	http     *http.Client
	journal  *journal
	print    io.Writer
	accepted atomic.Int64 // in sessions that have ended
	leftOut  []string

	mu      sync.Mutex // guards results and what is printed
	results []*Result

	// past is how many events the data of the damages has.
	past int
	doc  string // file whose section of figures is rewritten, "" for none
}

// full says whether this is the long form.
func (g *gate) full() bool { return g.form == "full" }

// limit is a time limit on this machine.
func (g *gate) limit(d time.Duration) time.Duration { return time.Duration(float64(d) * g.slack) }

// rounds is how often a fault is injected in each form, unless an option says so.
func (g *gate) rounds(short, full int) int {
	if g.times > 0 {
		return g.times
	}
	return g.sized(short, full)
}

// sized is the number for the form.
func (g *gate) sized(short, full int) int {
	if g.full() {
		return full
	}
	return short
}

// scenario is a group of faults that share a service.
type scenario struct {
	name string
	root bool // needs mounts
	run  func(ctx context.Context, g *gate, seed uint64) error
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == brokerCommand {
		os.Exit(runBroker(os.Args[2:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	g := &gate{print: os.Stdout, http: &http.Client{}}
	var only, out string
	flag.StringVar(&g.form, "form", "short", "short or full")
	flag.Uint64Var(&g.seed, "seed", 0, "what all choices come from; 0: the clock")
	flag.StringVar(&only, "only", "", "scenarios to run, separated by commas, each by the beginning of its name")
	flag.StringVar(&g.binary, "bin", filepath.Join("bin", "errata"), "the errata to test; errata-engine beside it")
	flag.StringVar(&out, "out", "", "folder for the report, the raw log and the logs of the services; empty: a new one")
	flag.BoolVar(&g.noRoot, "no-root", false, "leave out what needs mounts instead of failing without root")
	flag.Float64Var(&g.slack, "slack", 1, "factor on all limits of time, for a machine that does something else as well")
	flag.IntVar(&g.times, "times", 0, "how often each fault is dealt; 0: as the form says")
	flag.IntVar(&g.batch, "batch", 0, "most events of one request; 0: 20, in the full form 200")
	flag.IntVar(&g.parallel, "parallel", 3, "damaged services at once; they mostly wait")
	flag.StringVar(&g.damage, "damage", "", "damages to plant, separated by commas, each by the beginning of its name, such as \"flip: log\"")
	flag.IntVar(&g.past, "past", templateEvents, "events in the data that is damaged, of 4 kB each; a file of the log takes 8 MB")
	flag.DurationVar(&g.pace, "pace", 0, "time between two requests of a sender")
	flag.StringVar(&g.doc, "doc", "", "file whose section of figures is written anew, docs/reliability.md")
	flag.IntVar(&g.problems, "problems", 400, "problems that the senders have between them")
	flag.Parse()
	chosen, err := g.prepare(only, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unmountBelow(g.dir), os.RemoveAll(g.dir)) }()
	defer func() { err = errors.Join(err, g.journal.close()) }()
	g.runAll(ctx, chosen)
	return errors.Join(g.finish(), ctx.Err())
}

// prepare checks the options, makes the folders and chooses the scenarios.
func (g *gate) prepare(only, out string) (chosen []scenario, err error) {
	if g.form != "short" && g.form != "full" {
		return nil, fmt.Errorf("-form %q is neither short nor full", g.form)
	}
	if g.seed == 0 {
		g.seed = uint64(time.Now().UnixNano()) % 1_000_000_007
	}
	if g.batch == 0 {
		g.batch = g.sized(20, 200)
	}
	if g.binary, err = filepath.Abs(g.binary); err != nil {
		return nil, fmt.Errorf("find the binary: %w", err)
	}
	if _, err := exec.LookPath(g.binary); err != nil {
		return nil, fmt.Errorf("run 'make build engine' first: %w", err)
	}
	if chosen, err = g.choose(only); err != nil {
		return nil, err
	}
	if err := sweep(); err != nil {
		return nil, err
	}
	if g.out = out; out == "" {
		g.out, err = os.MkdirTemp("", "errata-gate-report-")
	} else {
		err = os.MkdirAll(out, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("make the folder of the report: %w", err)
	}
	if g.dir, err = newRunDir(); err != nil {
		return nil, err
	}
	g.journal, err = newJournal(filepath.Join(g.out, "referee.ndjson.gz"))
	return chosen, err
}

// choose picks the scenarios. Without root, those that need it fail the run
// unless -no-root leaves them out.
func (g *gate) choose(only string) (chosen []scenario, err error) {
	usable := disk.Usable()
	for _, s := range scenarios {
		if !matches(s.name, only) {
			continue
		}
		if s.root && usable != nil {
			if !g.noRoot {
				return nil, fmt.Errorf("%s cannot run: %w; -no-root leaves out what needs it", s.name, usable)
			}
			g.leftOut = append(g.leftOut, s.name)
			fmt.Fprintf(g.print, "left out: %s (%v)\n", s.name, usable)
			continue
		}
		chosen = append(chosen, s)
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no scenario is chosen by -only %q", only)
	}
	return chosen, nil
}

// matches says whether the list has a prefix of the name; "" matches all.
func matches(name, only string) bool {
	if only == "" {
		return true
	}
	for prefix := range strings.SplitSeq(only, ",") {
		if strings.HasPrefix(name, strings.TrimSpace(prefix)) {
			return true
		}
	}
	return false
}

// runAll runs the scenarios one after the other. A scenario that cannot run is
// a violation too, because nothing is known of it.
func (g *gate) runAll(ctx context.Context, chosen []scenario) {
	for i, s := range chosen {
		if ctx.Err() != nil {
			return
		}
		seed := g.seed + uint64(i)<<32
		if err := s.run(ctx, g, seed); err != nil && ctx.Err() == nil {
			r := g.begin(s.name, seed)
			r.violate("%v", err)
			g.report(r)
		}
	}
}
