package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/internal/proc"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/signature"
)

// foldEvents is how many events the log of the fold row holds.
const foldEvents = 1_000_000

// fold measures how fast a projector catches up with a full log, against
// reading and decoding the same blocks.
func (b *bench) fold() error {
	for _, problems := range b.sizes.folded {
		target := 0.40
		if problems > 1000 {
			target = 0.15
		}
		if err := b.foldOf(problems, target); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) foldOf(problems int, target float64) error {
	var ours, ceilings, ratios, own, all []float64
	for round := range max(1, b.rounds/2) { // each round fills a log of its own
		e, stop, err := b.engines(filepath.Join(b.dir, fmt.Sprintf("fold-%d-%d", problems, round)))
		if err != nil {
			return err
		}
		folded, err := foldRound(e, problems, b.alertRules)
		if err != nil {
			return err
		}
		if err := stop(); err != nil {
			return err
		}
		ours, ceilings, ratios = append(ours, folded.perSecond), append(ceilings, folded.ceiling), append(ratios, folded.perSecond/folded.ceiling)
		own, all = append(own, folded.own), append(all, folded.cpu)
	}
	row{name: fmt.Sprintf("fold, %d signatures", problems), ours: median(ours), ceiling: median(ceilings),
		unit: "events/s", ratio: median(ratios), target: target, note: fmt.Sprintf("until visible; processor time of an event %s µs, of the service %s", figure(median(all)), figure(median(own)))}.write(b.out)
	return nil
}

// folded is how one log was folded.
type folded struct {
	perSecond, ceiling float64 // events until they are visible, and read and decoded only
	cpu                float64 // processor time of the machine in µs/event
	own                float64 // that of this process
}

func foldRound(e *engine.Engines, problems int, rules ruleCounts) (f folded, err error) {
	log := eventlog.Log{NATS: e.NATS.Conn(), JetStream: e.JetStream(), Stream: migrations.StreamName("")}
	if err := setRules(log, rules); err != nil {
		return f, err
	}
	if err := fillLog(log, foldEvents, problems); err != nil {
		return f, fmt.Errorf("fill the log: %w", err)
	}
	if f.ceiling, err = readAndDecode(log); err != nil {
		return f, fmt.Errorf("read and decode: %w", err)
	}
	before, err := proc.ReadProcessors()
	if err != nil {
		return f, err
	}
	begin, own := time.Now(), doortest.CPU()
	ctx := context.Background()
	p, err := projector.New(ctx, projector.Config{
		Log: log, ClickHouse: e.ClickHouse(), Own: true,
	})
	if err != nil {
		return f, err
	}
	commander, err := eventlog.NewCommander(eventlog.CommanderConfig{
		Log: log, Answers: p.Store(),
	})
	if err != nil {
		return f, err
	}
	p.Start()
	if _, err := commander.Do(ctx, eventlog.CommandBarrier, nil); err != nil {
		return f, err
	}
	f.perSecond = foldEvents / time.Since(begin).Seconds()
	after, err := proc.ReadProcessors()
	if err != nil {
		return f, err
	}
	f.cpu = after.BusyMicros(before) / foldEvents
	f.own = float64((doortest.CPU() - own).Microseconds()) / foldEvents
	// Ask the store: the projector's own figures follow a moment later.
	if cp, err := p.Store().Checkpoint(ctx); err != nil || cp.Events != foldEvents {
		return f, fmt.Errorf("%d events were counted (%w), want %d", cp.Events, err, foldEvents)
	}
	if err := p.Stop(ctx); err != nil {
		return f, err
	}
	return f, commander.Close()
}

// fillLog appends so many events of 1 KB, of so many problems in turn, in blocks of 250.
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
