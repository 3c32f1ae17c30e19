package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/ingest/sentry"
	"github.com/errata-log/errata/internal/load"
)

// sentryEncodings are the content encodings of SDKs, with the default effort of
// their libraries.
var sentryEncodings = []struct {
	name string
	pack func(w io.Writer) (io.WriteCloser, error) // nil: no encoding
}{
	{"identity", nil},
	{"gzip", func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, gzip.DefaultCompression) }},
	{"zstd", func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)) }},
	{"br", func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriterLevel(w, 4), nil }},
}

// sentryCPU measures the processor time of one Sentry event in each encoding,
// from the socket to a log that drops it, beside the same request at the null
// sink. The generator and the network are in both.
func (b *bench) sentryCPU() (err error) {
	addr, stopReceiver, err := sentryReceiver(emptyLog{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopReceiver()) }()
	sink, stopSink, err := load.NullSink()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopSink()) }()
	for _, e := range sentryEncodings {
		body, err := anonymousEnvelope(e.pack)
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		req := load.NewRequest("POST", "/api/1/envelope/", [][2]string{
			{"X-Sentry-Auth", "Sentry sentry_version=7, sentry_client=bench/1, sentry_key=" + anyPublicKey},
			{"Content-Type", "application/x-sentry-envelope"}, {"Content-Encoding", e.name},
		}, body, 1)
		run := func(addr string) func() (float64, error) {
			return func() (float64, error) {
				began := doortest.CPU()
				r, err := load.Strict(addr, req, 16, b.span)
				return float64((doortest.CPU() - began).Nanoseconds()) / 1000 / float64(r.Events), err
			}
		}
		ours, ceiling, _, err := paired(b.rounds, run(addr), run(sink))
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		row{name: "CPU of a Sentry event, " + e.name, ours: ours, ceiling: ceiling, unit: "µs/event",
			note: fmt.Sprintf("%d bytes as sent", len(body))}.write(b.out)
	}
	return nil
}

// anyPublicKey has the form of a key; [openKeyring] takes every one.
const anyPublicKey = "00000000000000000000000000000001"

// sentryReceiver serves the Sentry receiver and the pipeline in front of the log, without
// engines.
func sentryReceiver(log ingest.Log) (addr string, stop func() error, err error) {
	pipeline, err := ingest.New(ingest.Config{Log: log, Random: rand.Reader})
	if err != nil {
		return "", nil, err
	}
	handler, err := sentry.New(sentry.Config{Accepter: pipeline, Keyring: openKeyring{}})
	if err != nil {
		return "", nil, err
	}
	return load.Serve(handler)
}

// anonymousEnvelope is [sentryEnvelope] without ids, because a compressed body
// cannot get new ones: the service gives each event an id.
func anonymousEnvelope(encode func(io.Writer) (io.WriteCloser, error)) (string, error) {
	lines := strings.Split(sentryEnvelope(anyPublicKey), "\n")
	event := strings.Replace(lines[2], fmt.Sprintf(`"event_id":"%s",`, load.EventID), "", 1)
	text := "{}\n{\"type\":\"event\"}\n" + event + "\n"
	if encode == nil {
		return text, nil
	}
	body, err := pack([]byte(text), encode)
	return string(body), err
}
