package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/signature"
)

// foldEvents is how many events the log of the fold row holds.
const foldEvents = 1_000_000

// fold measures how fast a projector catches up with a full log, against
// reading and decoding the same blocks.
func (b *bench) fold() error {
	if err := b.foldOf(100, 0.40); err != nil {
		return err
	}
	return b.foldOf(1_000_000, 0.15)
}

func (b *bench) foldOf(problems int, target float64) error {
	var ours, ceilings, ratios []float64
	for round := range max(1, b.rounds/2) { // each round fills a log of its own
		f, err := b.openLog(filepath.Join(b.dir, fmt.Sprintf("fold-%d-%d", problems, round)))
		if err != nil {
			return err
		}
		o, c, err := f.catchUp(problems)
		if err != nil {
			return err
		}
		if err := f.close(); err != nil {
			return err
		}
		ours, ceilings, ratios = append(ours, o), append(ceilings, c), append(ratios, o/c)
	}
	row{name: fmt.Sprintf("fold, %d signatures", problems), ours: median(ours), ceiling: median(ceilings),
		unit: "events/s", ratio: median(ratios), target: target, note: "until visible"}.write(b.out)
	return nil
}

// catchUp fills the log, and then starts a projector and measures it.
func (f *folding) catchUp(problems int) (ours, ceiling float64, err error) {
	if err := fillLog(f.log, foldEvents, problems); err != nil {
		return 0, 0, fmt.Errorf("fill the log: %w", err)
	}
	if ceiling, err = readAndDecode(f.log); err != nil {
		return 0, 0, fmt.Errorf("read and decode: %w", err)
	}
	begin := time.Now()
	ctx := context.Background()
	if err := f.start(ctx); err != nil {
		return 0, 0, err
	}
	if err := f.visible(ctx); err != nil {
		return 0, 0, err
	}
	took := time.Since(begin)
	// The store's checkpoint, because the projector reports its own a moment
	// later.
	if cp, err := f.projector.Store().Checkpoint(ctx); err != nil || cp.Events != foldEvents {
		return 0, 0, fmt.Errorf("%d events were counted (%w), want %d", cp.Events, err, foldEvents)
	}
	return foldEvents / took.Seconds(), ceiling, nil
}

// fillLog appends count events of 1 KB, of the problems in turn, in blocks of
// 250.
func fillLog(log eventlog.Log, count, problems int) error {
	ctx := context.Background()
	appender, err := eventlog.NewAppender(eventlog.AppenderConfig{Log: log})
	if err != nil {
		return err
	}
	payload := []byte(nativeEvent(7))
	at := time.Now()
	const block = 250
	events := make([]errata.Event, block)
	for from := 0; from < count; from += block {
		events = events[:min(block, count-from)]
		for i := range events {
			n := from + i
			events[i] = errata.Event{
				ID: errata.NewEventID(1, fmt.Sprint(n)), Project: 1, Book: errata.Books[n%2], Level: errata.LevelError,
				Signature: signature.Sign(signature.Identity{Project: uint64(n % problems)}),
				Time:      at, Received: at, File: "src/Payment/Gateway.php", Line: 42, Message: "could not charge order",
				Class: "PaymentError", URI: "/checkout?page=2", Method: "POST", UserID: int64(n), Payload: payload,
			}
		}
		if err := appender.Append(ctx, events); err != nil {
			return err
		}
	}
	return appender.Close(ctx)
}

// readAndDecode reads the whole log and decodes every event.
func readAndDecode(log eventlog.Log) (perSecond float64, err error) {
	ctx := context.Background()
	state, err := eventlog.Inspect(ctx, log)
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	reader, err := eventlog.NewReader(ctx, log, 1)
	if err != nil {
		return 0, err
	}
	defer reader.Close()
	var scratch []byte
	events := 0
	for range state.Last {
		f, err := reader.Next(ctx)
		if err != nil {
			return 0, err
		}
		if f.Kind != eventlog.FactEvents {
			continue
		}
		block, err := eventlog.DecodeBlock(f.Data, scratch)
		if err != nil {
			return 0, err
		}
		scratch = block.Raw()
		var broken error
		block.Entries(func(_ int, entry eventlog.Entry) {
			events++
			if _, err := entry.Event(); err != nil {
				broken = err
			}
		})
		if broken != nil {
			return 0, broken
		}
	}
	return float64(events) / time.Since(begin).Seconds(), nil
}
