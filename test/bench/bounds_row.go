package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/internal/load"
	"github.com/errata-log/errata/migrations"
)

// bounds measures what no work on one part of the way of an event can pass, each against the
// null sink: a server that does nothing but bring the bytes to the disk before it answers,
// one that appends a ready event to the log, and the receiver without a log.
func (b *bench) bounds() (err error) {
	e, stop, err := b.engines(filepath.Join(b.dir, "bounds"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	appender, err := eventlog.NewAppender(eventlog.AppenderConfig{
		Log: eventlog.Log{NATS: e.NATS.Conn(), JetStream: e.JetStream(), Stream: migrations.StreamName("")},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, appender.Close(context.Background())) }()
	disk, err := newDiskSink(filepath.Join(b.dir, "sink"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, disk.close()) }()
	ready, err := readyEvent()
	if err != nil {
		return err
	}
	receiver, stopReceiver, err := sentryReceiver(emptyLog{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopReceiver()) }()
	native := load.NewRequest("POST", "/api/v1/events", b.nativeHeader(), nativeEvent(7), 1)
	for _, way := range []struct {
		name  string
		store func(body []byte) error // nil: the receiver
		req   load.Request
	}{
		{"disk", disk.store, anyEnvelope()},
		{"disk, native", disk.store, native},
		{"log of ready events", func([]byte) error {
			event := ready
			if _, err := rand.Read(event.ID[:]); err != nil {
				return err
			}
			return appender.Append(context.Background(), []errata.Event{event})
		}, anyEnvelope()},
		{"receiver", nil, anyEnvelope()},
	} {
		addr := receiver
		if way.store != nil {
			var stopSink func() error
			if addr, stopSink, err = load.Serve(storing(way.store)); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, stopSink()) }()
		}
		if err := b.boundOf(way.name, addr, way.req); err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
	}
	return nil
}

// boundOf measures a server in turns with the null sink: events a second, and processor time of
// an event, load included.
func (b *bench) boundOf(name, addr string, req load.Request) (err error) {
	sink, stop, err := load.NullSink()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	for _, conns := range []int{16, 64} {
		var ours, sinks []float64 // µs of the processors for an event
		run := func(addr string, took *[]float64) func() (float64, error) {
			return func() (float64, error) {
				began := doortest.CPU()
				r, err := load.Strict(addr, req, conns, b.span)
				*took = append(*took, float64((doortest.CPU()-began).Microseconds())/float64(max(r.Events, 1)))
				return r.PerSecond(), err
			}
		}
		bound, ceiling, ratio, err := paired(b.rounds, run(addr, &ours), run(sink, &sinks))
		if err != nil {
			return err
		}
		row{name: fmt.Sprintf("only the %s, %d", name, conns), ours: bound, ceiling: ceiling, unit: "events/s",
			note: fmt.Sprintf("%.2f of the null sink; processor time of an event %.1f and %.1f µs", ratio, median(ours), median(sinks))}.write(b.out)
	}
	return nil
}

// anyEnvelope is the request of the row sentry for a server that takes every key.
func anyEnvelope() load.Request {
	return load.NewRequest("POST", "/api/1/envelope/", load.EnvelopeHeader(anyPublicKey), sentryEnvelope(anyPublicKey), 1)
}

// storing answers 202 when the body is stored.
func storing(store func(body []byte) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = store(body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	})
}

// readyEvent is the event that the receiver makes of the envelope.
func readyEvent() (errata.Event, error) {
	record := &recordingLog{}
	addr, stop, err := sentryReceiver(record)
	if err != nil {
		return errata.Event{}, err
	}
	c, err := load.Dial(context.Background(), addr, anyEnvelope())
	if err == nil {
		err = errors.Join(c.Succeed(), c.Close())
	}
	if err = errors.Join(err, stop()); err != nil {
		return errata.Event{}, err
	}
	return record.events[0], nil
}

// diskSink appends what many store at once to a file, with one fsync for all that wait.
type diskSink struct {
	file  *os.File
	queue chan stored
	ended chan struct{}
}

type stored struct {
	bytes []byte
	done  chan error
}

// storedBytes is about what the log keeps of the envelope.
const storedBytes = 1000

func newDiskSink(path string) (*diskSink, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	d := &diskSink{file: file, queue: make(chan stored, 1024), ended: make(chan struct{})}
	go d.run() // ends with close
	return d, nil
}

func (d *diskSink) store(body []byte) error {
	s := stored{body[:min(len(body), storedBytes)], make(chan error, 1)}
	d.queue <- s
	return <-s.done
}

func (d *diskSink) run() {
	defer close(d.ended)
	var bytes []byte
	for first := range d.queue {
		waiting := []stored{first}
		for len(d.queue) > 0 {
			waiting = append(waiting, <-d.queue)
		}
		bytes = bytes[:0]
		for _, s := range waiting {
			bytes = append(bytes, s.bytes...)
		}
		_, err := d.file.Write(bytes)
		if err == nil {
			err = d.file.Sync()
		}
		for _, s := range waiting {
			s.done <- err
		}
	}
}

func (d *diskSink) close() error {
	close(d.queue)
	<-d.ended
	return d.file.Close()
}
