package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/native"
)

// packed makes the blocks that the pipeline would append for the events of a
// native body.
func packed(text string) (blocks [][]byte, err error) {
	record := &recordingLog{}
	pipeline, err := ingest.New(ingest.Config{Log: record, Random: rand.Reader})
	if err != nil {
		return nil, err
	}
	handler, err := native.New(native.Config{Accepter: pipeline, Keyring: openKeyring{}})
	if err != nil {
		return nil, err
	}
	answer := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodPost, "/api/v1/events", strings.NewReader(text)) //nolint:noctx // not sent
	request.Header.Set("Authorization", "Bearer any")
	handler.ServeHTTP(answer, request)
	if answer.Code != http.StatusAccepted {
		return nil, fmt.Errorf("the native receiver answered %d: %s", answer.Code, answer.Body)
	}
	const block = 250
	for events := range slices.Chunk(record.events, block) {
		data, err := eventlog.EncodeBlock(events)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, data)
	}
	return blocks, nil
}

// recordingLog keeps the appended events.
type recordingLog struct{ events []errata.Event }

func (l *recordingLog) Append(_ context.Context, events []errata.Event) error {
	l.events = append(l.events, events...)
	return nil
}

// openKeyring accepts every key.
type openKeyring struct{}

func (openKeyring) ByToken(string) (access.Grant, error) { return access.Grant{Project: 1}, nil }

func (openKeyring) ByPublicKey(string, uint64) (access.Grant, error) {
	return access.Grant{Project: 1}, nil
}

// publishRaw publishes the blocks again and again, two in flight, as fast as the
// log takes them, and returns events a second.
func publishRaw(js jetstream.JetStream, blocks [][]byte, perRound int, span time.Duration) (float64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), span)
	defer cancel()
	var (
		done   sync.WaitGroup
		rounds atomic.Int64
		failed atomic.Pointer[error]
	)
	begin := time.Now()
	for range 2 {
		done.Go(func() {
			for ctx.Err() == nil {
				for _, block := range blocks {
					if _, err := js.Publish(context.Background(), "ev.0", block); err != nil {
						failed.Store(&err)
						return
					}
				}
				rounds.Add(1)
			}
		})
	}
	done.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(rounds.Load()*int64(perRound)) / time.Since(begin).Seconds(), nil
}
