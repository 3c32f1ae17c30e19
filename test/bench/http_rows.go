package main

import (
	"fmt"
	"path/filepath"

	"github.com/errata-log/errata/internal/load"
)

// nativeHeader authorises and labels a request of native JSON.
func (b *bench) nativeHeader() [][2]string {
	return [][2]string{{"Authorization", "Bearer " + b.ingestKey}, {"Content-Type", "application/json"}}
}

// httpRow measures one request against the same request at the null sink.
func (b *bench) httpRow(name string, req load.Request, conns int, target float64) error {
	var p50, p99 int64
	run := func(addr string, latency bool) func() (float64, error) {
		return func() (float64, error) {
			r, err := load.Strict(addr, req, conns, b.span)
			if latency {
				p50, p99 = r.Latency.ValueAtQuantile(50), r.Latency.ValueAtQuantile(99)
			}
			return r.PerSecond(), err
		}
	}
	sink, stop, err := load.NullSink()
	if err != nil {
		return err
	}
	ours, ceiling, ratio, err := paired(b.rounds, run(b.addr, true), run(sink, false))
	if err != nil {
		return err
	}
	row{name: name, ours: ours, ceiling: ceiling, unit: "events/s", ratio: ratio, target: target,
		note: fmt.Sprintf("p50 %.2f ms, p99 %.1f ms", float64(p50)/1000, float64(p99)/1000)}.write(b.out)
	return stop()
}

func (b *bench) single() error {
	req := load.NewRequest("POST", "/api/v1/events", b.nativeHeader(), nativeEvent(7), 1)
	return b.httpRow("single event, 64 connections", req, 64, 0.60)
}

func (b *bench) sentry() error {
	req := load.NewRequest("POST", "/api/1/envelope/", load.EnvelopeHeader(b.publicKey), sentryEnvelope(b.publicKey), 1)
	for _, conns := range []int{16, 64} {
		if err := b.httpRow(fmt.Sprintf("Sentry envelope, %d connections", conns), req, conns, 0.60); err != nil {
			return err
		}
	}
	return nil
}

// ndjson measures requests of 500 events against raw publishing of the same
// events in packed blocks, with the same fsync.
func (b *bench) ndjson() error {
	const batch, conns = 500, 8
	req := load.NewRequest("POST", "/api/v1/events", b.nativeHeader(), ndjson(batch), batch)
	blocks, err := packed(ndjson(batch))
	if err != nil {
		return err
	}
	e, stop, err := b.engines(filepath.Join(b.dir, "ceiling"))
	if err != nil {
		return err
	}
	ours := func() (float64, error) {
		r, err := load.Strict(b.addr, req, conns, b.span)
		return r.PerSecond(), err
	}
	ceiling := func() (float64, error) { return publishRaw(e.JetStream(), blocks, batch, b.span) }
	o, c, ratio, err := paired(b.rounds, ours, ceiling)
	if err != nil {
		return err
	}
	row{name: "NDJSON, 500 events a request", ours: o, ceiling: c, unit: "events/s", ratio: ratio, target: 0.50}.write(b.out)
	return stop()
}
