package app

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
)

const (
	// readyLag is how far the list may be behind the log of a service that is
	// ready. Half the maximum load stays below one second.
	readyLag = 30 * time.Second
	// probeTimeout bounds one question to an engine, so that a probe answers
	// before common health checks give up after 5 s.
	probeTimeout = 1500 * time.Millisecond
)

// health says how the service is. It is ready when events are taken and the
// records are read and up to date:
//
//	log         answers, has room, and took the latest events
//	ClickHouse  answers
//	projector   is at most readyLag behind, or moved within readyLag
//	alarms      none stands
//
// A projector that catches up after an outage is ready: holding readers back
// would help nobody. Whoever routes events by readiness should use /healthz
// instead: events are safe while ClickHouse is away.
type health struct {
	log        func(context.Context) (eventlog.State, error)
	trouble    func() error // of the latest appends
	ping       func(context.Context) error
	unsynced   func(context.Context) ([]string, error)
	records    func() error // why what needs ClickHouse is not up
	projection func() projector.Status
	engines    func(context.Context) []engine.Check
	now        func() time.Time
	audit      func(context.Context) api.Check // nil: there is no trail
	figures    func(context.Context) api.Figures
	letters    func(context.Context) api.Check // nil: nothing comes over NATS
	selfCheck  func() api.Check                // nil on an ingest node
	alarms     func() []errata.Alarm
	keys       func() []access.Key
	strays     func() string // "" for none

	mu    sync.Mutex
	seen  uint64    // the checkpoint when it was last looked at
	moved time.Time // when it was last seen to be another one
}

var _ api.Health = (*health)(nil)

// Ready is nil when the service is. Kinds: log_unavailable, log_full,
// store_unavailable, degraded.
func (h *health) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*probeTimeout)
	defer cancel()
	if err := h.logReady(ctx); err != nil {
		return err
	}
	if err := h.storeReady(ctx); err != nil {
		return errata.Errorf(errata.KindStoreUnavailable, "ClickHouse does not answer. Events are taken and safe; records cannot be read.").Because(err)
	}
	if err := h.records(); err != nil {
		return err
	}
	if err := h.projectorReady(); err != nil {
		return err
	}
	return h.alarmed()
}

// alarmed names the alarms that stand. Strangers read this, so it says no more.
func (h *health) alarmed() error {
	var names []string
	for _, alarm := range h.alarms() {
		names = append(names, alarm.Name)
	}
	if len(names) == 0 {
		return nil
	}
	return errata.Errorf(errata.KindDegraded,
		"Events are taken and records can be read, but an alarm stands: %s. errata doctor says what to do.", strings.Join(names, ", "))
}

// Alarms are those that stand.
func (h *health) Alarms() []errata.Alarm { return h.alarms() }

func (h *health) logReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	state, err := h.log(ctx)
	if err != nil {
		return errata.Errorf(errata.KindLogUnavailable, "The log does not answer. Events are refused until it does.").Because(err)
	}
	if state.MaxBytes > 0 && state.Bytes >= uint64(state.MaxBytes) {
		return errata.Errorf(errata.KindLogFull, "The log has reached its limit. Events are refused.")
	}
	if err := h.trouble(); err != nil {
		return errata.Errorf(errata.KindOf(err), "The log did not take the latest events.").Because(err)
	}
	return nil
}

// storeReady does not wait for the driver, which gives a server that is
// frozen 5 s to shake hands whatever the context says.
func (h *health) storeReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	answer := make(chan error, 1)
	go func() { answer <- h.ping(ctx) }() // ends with the driver's own limit
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return fmt.Errorf("ping: %w", ctx.Err())
	}
}

func (h *health) projectorReady() error {
	status, still := h.progress()
	if status.Lag <= readyLag && status.Err == nil || still <= readyLag {
		return nil
	}
	return errata.Errorf(errata.KindStoreUnavailable,
		"The records are behind the log and do not get on. Events are taken and safe.").Because(status.Err)
}

// progress is how the projector stands, and for how long it has not moved as
// far as anybody has looked.
func (h *health) progress() (status projector.Status, still time.Duration) {
	status = h.projection()
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := h.now(); h.moved.IsZero() || status.Checkpoint.Sequence != h.seen {
		h.seen, h.moved = status.Checkpoint.Sequence, now
	}
	return status, h.now().Sub(h.moved)
}

// Figures are what an operator would measure.
func (h *health) Figures(ctx context.Context) api.Figures { return h.figures(ctx) }

// Checks is all that an operator would look at.
func (h *health) Checks(ctx context.Context) []api.Check {
	var checks []api.Check
	for _, c := range h.engines(ctx) {
		checks = append(checks, api.Check(c))
	}
	checks = append(checks, h.checkLog(ctx), h.checkTables(ctx), h.checkProjector(ctx))
	checks = append(checks, h.checkKeys(), h.checkStrays())
	if h.audit != nil {
		checks = append(checks, h.audit(ctx))
	}
	if h.letters != nil {
		checks = append(checks, h.letters(ctx))
	}
	if h.selfCheck != nil {
		checks = append(checks, h.selfCheck())
	}
	return append(checks, h.checkAlarms()...)
}

// checkKeys warns of keys that are about to end: an application whose key has
// ended falls silent, and nobody notices silence.
func (h *health) checkKeys() api.Check {
	c := api.Check{Name: "keys", OK: true, Detail: "none ends soon"}
	var soon []string
	for _, key := range h.keys() {
		if key.EndsSoon(h.now()) {
			soon = append(soon, fmt.Sprintf("%s %q on %s", key.ID, key.Name, key.ExpiresAt.UTC().Format(time.DateOnly)))
		}
	}
	if len(soon) > 0 {
		c.Detail = "soon to end: " + strings.Join(soon, ", ")
		c.Hint = "make a new key for each (errata keys create), put it where the old one is, and revoke the old one"
	}
	return c
}

// checkStrays says whether something stands in the streams that is none of ours.
func (h *health) checkStrays() api.Check {
	c := api.Check{Name: "foreign facts", OK: true, Detail: "none was met since this start"}
	if found := h.strays(); found != "" {
		c.OK, c.Detail = false, "left out since this start: "+found
		c.Hint = "somebody else writes to the streams of Errata: change the passwords of NATS, and give applications an account of their own (docs/operations.md, \"Events over NATS\"); or nodes run different versions"
	}
	return c
}

// checkAlarms makes a failed check of each alarm.
func (h *health) checkAlarms() []api.Check {
	var checks []api.Check
	for _, alarm := range h.alarms() {
		checks = append(checks, api.Check{
			Name: alarm.Name, Detail: fmt.Sprintf("since %s: %s", alarm.Since.UTC().Format(time.RFC3339), alarm.Detail), Hint: alarm.Hint,
		})
	}
	return checks
}

func (h *health) checkLog(ctx context.Context) api.Check {
	c := api.Check{Name: "log"}
	state, err := h.log(ctx)
	if err != nil {
		c.Detail, c.Hint = err.Error(), "see the checks of nats"
		return c
	}
	c.Detail = fmt.Sprintf("facts %d to %d, %d of %d bytes", state.First, state.Last, state.Bytes, state.MaxBytes)
	if err := h.logReady(ctx); err != nil {
		c.Detail += "; " + err.Error()
		c.Hint = "events are refused: raise log-max-bytes, or make room on the disk; an embedded log that the disk has stopped comes back by itself"
		return c
	}
	c.OK = true
	if state.MaxBytes > 0 && state.Bytes > uint64(state.MaxBytes)/10*9 {
		c.Hint = "the log is nearly full, and then events are refused: raise log-max-bytes"
	}
	return c
}

// checkTables looks for tables that would lose confirmed rows at a power cut.
func (h *health) checkTables(ctx context.Context) api.Check {
	c := api.Check{Name: "table sync"}
	tables, err := h.unsyncedInTime(ctx)
	switch {
	case err != nil:
		c.Detail, c.Hint = fmt.Sprintf("cannot be asked: %v", err), "see the check of clickhouse"
	case len(tables) > 0:
		c.Detail = "no fsync after insert: " + strings.Join(tables, ", ")
		c.Hint = "a power cut loses records: ALTER TABLE … MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1"
	default:
		c.OK, c.Detail = true, "fsync after every insert"
	}
	return c
}

// unsyncedInTime does not wait for the driver either, see storeReady.
func (h *health) unsyncedInTime(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	type answer struct {
		tables []string
		err    error
	}
	answered := make(chan answer, 1)
	go func() { // ends with the driver's own limit
		tables, err := h.unsynced(ctx)
		answered <- answer{tables, err}
	}()
	select {
	case a := <-answered:
		return a.tables, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (h *health) checkProjector(ctx context.Context) api.Check {
	c := api.Check{Name: "projector"}
	status, _ := h.progress()
	c.Detail = fmt.Sprintf("records show the log up to fact %d, lag %v", status.Checkpoint.Sequence, status.Lag.Round(time.Millisecond))
	if state, err := h.log(ctx); err == nil && state.Last > status.Checkpoint.Sequence {
		c.Detail += fmt.Sprintf(", %d facts to go", state.Last-status.Checkpoint.Sequence)
	}
	if status.Err != nil {
		c.Detail += "; " + status.Err.Error()
	}
	if c.OK = h.projectorReady() == nil; !c.OK {
		c.Hint = "events are safe on the log; see the check of clickhouse and the log of this service"
	}
	return c
}
