// Package stray counts strays: messages in the streams of the service that are
// damaged or that the service has not written. Readers leave them out and report
// them here; each is counted once, however often it is reported.
//
// The package must not decide what is a stray.
package stray

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	errata "github.com/errata-log/errata"
)

// maxKnown bounds the counted strays, and so the memory. After so many, the
// operator has seen the problem; further ones are not counted.
const maxKnown = 10_000

// Counter counts strays. It is safe for concurrent use.
type Counter struct {
	logger  *slog.Logger
	counted *prometheus.CounterVec

	mu    sync.Mutex
	known map[place]struct{}
	count map[string]int // by stream
}

// place is the stream and sequence of a stray.
type place struct {
	stream   string
	sequence uint64
}

// New makes an empty counter. A nil registerer registers no metric, a nil logger
// writes nothing. An error says that the metric is registered already.
func New(registerer prometheus.Registerer, logger *slog.Logger) (*Counter, error) {
	c := &Counter{logger: cmp.Or(logger, slog.New(slog.DiscardHandler)), known: map[place]struct{}{}, count: map[string]int{}, counted: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "errata_unreadable_facts_total",
		Help: "Messages in streams of the service that it cannot read and leaves out, since this start.",
	}, []string{"stream"})}
	if registerer != nil {
		if err := registerer.Register(c.counted); err != nil {
			return nil, fmt.Errorf("register the metric of unreadable facts: %w", err)
		}
	}
	return c, nil
}

// In returns the function with which readers of the stream report a message that
// they leave out, and why. The metric has the name of the stream as its label.
func (c *Counter) In(stream string) func(sequence uint64, why error) {
	c.counted.WithLabelValues(stream) // shows 0 when the stream is read and has no stray
	return func(sequence uint64, why error) {
		at := place{stream, sequence}
		c.mu.Lock()
		_, again := c.known[at]
		if again = again || len(c.known) == maxKnown; !again {
			c.known[at] = struct{}{}
			c.count[stream]++
		}
		c.mu.Unlock()
		if again {
			return
		}
		c.counted.WithLabelValues(stream).Inc()
		c.logger.Error("a message that is damaged or not written by the service is left out", "stream", stream, "sequence", sequence, "error", why)
	}
}

// Check says how many strays there are in each stream.
func (c *Counter) Check(context.Context) errata.Check {
	c.mu.Lock()
	defer c.mu.Unlock()
	var parts []string
	for _, stream := range slices.Sorted(maps.Keys(c.count)) {
		parts = append(parts, fmt.Sprintf("%d in %s", c.count[stream], stream))
	}
	if len(parts) == 0 {
		return errata.Check{Name: "foreign facts", OK: true, Detail: "none was met since this start"}
	}
	return errata.Check{
		Name: "foreign facts", Detail: "left out since this start: " + strings.Join(parts, ", "),
		Hint: "somebody else writes to the streams of Errata: change the passwords of NATS, and give applications an account of their own (docs/operations.md, \"Events over NATS\"); or nodes run different versions",
	}
}
