package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/errata-log/errata/internal/load"
	"github.com/errata-log/errata/internal/proc"
)

// procFolder is where Linux shows its processes.
const procFolder = "/proc"

// measurement runs the rows and puts them into the report.
type measurement struct {
	options  benchOptions
	target   *target
	request  load.Request
	report   *benchReport
	progress io.Writer
}

// usage is what the server has used so far. It is an error when that is not known.
func (m *measurement) usage() (proc.Usage, error) {
	if len(m.options.pids) == 0 {
		return proc.Usage{}, errors.New("no process is given")
	}
	return proc.Families(procFolder, m.options.pids, os.Getpid())
}

func (m *measurement) rows(ctx context.Context) error {
	for _, connections := range m.options.connections {
		row, err := m.row(ctx, connections)
		if err != nil {
			return fmt.Errorf("%d connections: %w", connections, err)
		}
		m.report.Rows = append(m.report.Rows, row)
	}
	return nil
}

// round is what both took in one round.
type round struct{ server, sink float64 }

// row measures with one number of connections.
func (m *measurement) row(ctx context.Context, connections int) (row benchRow, err error) {
	sink, err := startSink(ctx)
	if err != nil {
		return benchRow{}, fmt.Errorf("start the null sink: %w", err)
	}
	defer sink.kill()
	processors, processorsErr := proc.ReadProcessors()
	before, beforeErr := m.usage()
	highest := proc.Highest(func() (int64, error) {
		now, err := m.usage()
		return now.Resident, err
	})
	sinkHighest := proc.Highest(sink.resident)
	rounds, latency, dropped, err := m.turns(ctx, connections, sink.addr, &row)
	memory, memoryErr := highest()
	sinkMemory, sinkMemoryErr := sinkHighest()
	if err != nil {
		return row, err
	}
	after, afterErr := m.usage()
	row.fill(connections, rounds, latency)
	if memoryErr == nil {
		row.Memory = &memory
	}
	if beforeErr == nil && afterErr == nil {
		row.Processor = perThousand(after.Since(before), row.Accepted)
	}
	if now, err := proc.ReadProcessors(); err == nil && processorsErr == nil {
		stolen := now.StolenSince(processors)
		row.Stolen = &stolen
	}
	if sinkMemoryErr == nil {
		row.SinkMemory = &sinkMemory
	}
	used, err := sink.stop()
	row.SinkProcessor = perThousand(used, dropped)
	return row, err
}

// turns runs the null sink and the server in turns, so that a change of the machine's
// pace meets both.
func (m *measurement) turns(ctx context.Context, connections int, sink string, row *benchRow) (rounds []round, latency *hdrhistogram.Histogram, dropped int64, err error) {
	latency = load.NewHistogram()
	for i := range m.options.rounds {
		ceiling, err := load.Run(ctx, sink, m.request, connections, m.options.span)
		if err = errors.Join(err, ceiling.Failure); err != nil {
			return nil, nil, 0, fmt.Errorf("null sink: %w", err)
		}
		dropped += ceiling.Events
		got, err := load.Run(ctx, m.target.addr, m.request, connections, m.options.span)
		if err != nil && ctx.Err() == nil && got.Requests == 0 && i == 0 {
			return nil, nil, 0, err
		}
		if ctx.Err() != nil {
			return nil, nil, 0, ctx.Err()
		}
		row.took(got)
		m.report.took(got)
		latency.Merge(got.Latency)
		rounds = append(rounds, round{got.PerSecond(), ceiling.PerSecond()})
		fmt.Fprintf(m.progress, "%d connections, round %d of %d: %.0f events/s, null sink %.0f\n", connections, i+1, m.options.rounds, got.PerSecond(), ceiling.PerSecond())
	}
	return rounds, latency, dropped, nil
}

// fill computes the figures of a row.
func (row *benchRow) fill(connections int, rounds []round, latency *hdrhistogram.Histogram) {
	row.Connections = connections
	row.PerSecond = medianOf(rounds, func(r round) float64 { return r.server })
	row.SinkPerSecond = medianOf(rounds, func(r round) float64 { return r.sink })
	row.Ratio = medianOf(rounds, func(r round) float64 { return r.server / r.sink })
	if latency.TotalCount() > 0 {
		p50, p99 := float64(latency.ValueAtQuantile(50))/1000, float64(latency.ValueAtQuantile(99))/1000
		row.P50, row.P99 = &p50, &p99
	}
}

// medianOf is the median of a figure of the rounds; the lower one of two.
func medianOf[T cmp.Ordered](rounds []round, figure func(round) T) T {
	var all []T
	for _, r := range rounds {
		all = append(all, figure(r))
	}
	slices.Sort(all)
	return all[(len(all)-1)/2]
}

// perThousand are the seconds for a thousand events; nil for none.
func perThousand(used time.Duration, events int64) *float64 {
	if events == 0 {
		return nil
	}
	seconds := used.Seconds() * 1000 / float64(events)
	return &seconds
}
