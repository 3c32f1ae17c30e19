package eventlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	errata "github.com/errata-log/errata"
)

// CommandGap says that facts of the log are gone; see [Gap]. It changes no record.
// It keeps the decision about the gap on the log, for every later reader.
const CommandGap = "gap"

// Why facts are gone.
const (
	// GapMissing: the log has no facts with these sequences.
	GapMissing = "missing"
	// GapUnreadable: the facts are there, but their bytes have changed.
	GapUnreadable = "unreadable"
	// GapOlder: the log ended before the checkpoint of the records, and the lost
	// sequences were filled with empty facts.
	GapOlder = "older"
)

// Who decides about a gap.
const (
	// GapByPolicy: no operator has decided about it yet.
	GapByPolicy = "policy"
	// GapByOperator: an operator has accepted it; the facts stay lost.
	GapByOperator = "operator"
	// GapClosed: the facts are on the log and in the records again, or a replay
	// made the records without them.
	GapClosed = "closed"
)

// Gap is a stretch of the log whose facts are gone, and the body of the command
// gap.
type Gap struct {
	From uint64 `json:"from"` // first sequence
	To   uint64 `json:"to"`   // last sequence
	// Events says how many events were in it.
	Events Estimate `json:"events"`
	// Why is GapMissing, GapUnreadable or GapOlder.
	Why string `json:"why"`
	// By is GapByPolicy, GapByOperator or GapClosed, "" for a gap that is not noted
	// on the log.
	By string `json:"by,omitempty"`
	// Name is the name of the operator.
	Name string `json:"name,omitempty"`
	// Files names the files of the log that held the facts, "" when unknown.
	Files string `json:"files,omitempty"`
}

// Facts is how many facts are gone.
func (g Gap) Facts() uint64 { return g.To - g.From + 1 }

// String describes the gap in words.
func (g Gap) String() string {
	what := fmt.Sprintf("facts %d to %d are %s", g.From, g.To, g.Why)
	if g.From == g.To {
		what = fmt.Sprintf("fact %d is %s", g.From, g.Why)
	}
	if g.Why == GapOlder {
		what = fmt.Sprintf("facts %d to %d were lost from the end of the log", g.From, g.To)
	}
	if g.Files != "" {
		what += " (" + g.Files + ")"
	}
	return what + " with " + g.Events.String()
}

// Estimate says how many events a gap held. Both numbers are the same when the
// counters of the blocks around the gap give the exact number.
type Estimate struct {
	Least uint64 `json:"least"`
	Most  uint64 `json:"most"`
	// Others is how many of the facts may have been commands, settings or
	// blocks of another writer.
	Others uint64 `json:"others,omitempty"`
}

// String describes the estimate in words.
func (e Estimate) String() string {
	var text string
	switch {
	case e.Least == e.Most && e.Most == 1:
		text = "1 event"
	case e.Least == e.Most:
		text = fmt.Sprintf("%d events", e.Most)
	default:
		text = fmt.Sprintf("between %d and %d events", e.Least, e.Most)
	}
	if e.Others > 0 {
		text += "; deletes and settings may be among them"
	}
	return text
}

// GapError says that a Reader has met a gap. The next call of Next continues after
// it.
type GapError struct {
	From, To uint64
	Why      string
}

// Error describes the gap in words.
func (e *GapError) Error() string {
	return fmt.Sprintf("facts %d to %d of the log are %s", e.From, e.To, e.Why)
}

// Is makes [errors.Is] true for ErrGap.
func (e *GapError) Is(target error) bool { return target == ErrGap }

// AppendGap puts a decision about a gap on the log, in the name of
// [errata.ActorOf](ctx), and returns the sequence of that fact. It tries until the
// outcome is known or settingTimeout is over. Kinds: log_full, log_unavailable.
func AppendGap(ctx context.Context, log Log, g Gap) (uint64, error) {
	// With this id, two nodes that meet a gap at the same time append one fact.
	return appendGap(ctx, log, g, fmt.Sprintf("gap.%d.%d.%s.%s", g.From, g.To, g.By, g.Why))
}

// AppendGapAgain is AppendGap for a gap that is on the log already, at a sequence
// that the projectors have passed.
func AppendGapAgain(ctx context.Context, log Log, g Gap) (uint64, error) {
	return appendGap(ctx, log, g, nuid.Next())
}

func appendGap(ctx context.Context, log Log, g Gap, id string) (uint64, error) {
	data, err := json.Marshal(g)
	if err != nil {
		return 0, fmt.Errorf("encode a gap: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, settingTimeout)
	defer cancel()
	return appendChange(ctx, log, subjectCommands+CommandGap, data, id, func(err error) error {
		return unavailable(fmt.Errorf("append the gap from %d to %d: %w", g.From, g.To, err))
	})
}

// GapFact is a fact of the log about a gap.
type GapFact struct {
	Gap
	// Sequence is that of the fact, Appended the time at which the log took it.
	Sequence uint64
	Appended time.Time
	Actor    errata.Actor
}

// GapFacts reads all facts about gaps from the log, the oldest first.
func GapFacts(ctx context.Context, log Log) ([]GapFact, error) {
	var list []GapFact
	for m, err := range messagesFrom(ctx, log, subjectCommands+CommandGap, 1) {
		if err != nil {
			return nil, fmt.Errorf("read the facts about gaps: %w", err)
		}
		fact := GapFact{Sequence: m.sequence, Appended: m.time, Actor: actorIn(m.header)}
		if json.Unmarshal(m.data, &fact.Gap) != nil || fact.From == 0 || fact.To < fact.From {
			continue // it is of another version, or not written by Errata
		}
		list = append(list, fact)
	}
	return list, nil
}

// Filled says whether the fact with the sequence is an empty one that takes the
// place of a lost fact; see [IsFilling].
func Filled(ctx context.Context, log Log, sequence uint64) (bool, error) {
	m, found, err := getMessage(ctx, log, messageQuery{Sequence: sequence})
	if err != nil {
		return false, fmt.Errorf("look at fact %d: %w", sequence, err)
	}
	return found && IsFilling(m.bareSubject(log), m.sequence, m.data), nil
}

// IsFilling says whether a fact only fills the place of a lost one. A repair may
// replace it by the lost fact. The subject has no prefix of the log.
func IsFilling(subject string, sequence uint64, data []byte) bool {
	var g Gap
	return subject == subjectCommands+CommandPad ||
		subject == subjectCommands+CommandGap && json.Unmarshal(data, &g) == nil && g.From == sequence
}

// estimateReach is how many facts on each side of a gap are searched for a block
// with a counter; commands and settings may be between blocks.
const estimateReach = 32

// EstimateGap says how many events a stretch of the log held whose facts are gone.
// It compares the counters of the blocks on both sides.
func EstimateGap(ctx context.Context, log Log, from, to uint64) (Estimate, error) {
	before, err := neighbour(ctx, log, from, false)
	if err != nil {
		return Estimate{}, err
	}
	after, err := neighbour(ctx, log, to, true)
	if err != nil {
		return Estimate{}, err
	}
	return estimate(before, after, to-from+1), nil
}

// neighbour returns the counter of the nearest block of an Appender on one side of
// a sequence, nil when none is near.
func neighbour(ctx context.Context, log Log, at uint64, behind bool) (*run, error) {
	for step := uint64(1); step <= estimateReach; step++ {
		seq := at + step
		if !behind {
			if step >= at {
				return nil, nil //nolint:nilnil // the log begins here
			}
			seq = at - step
		}
		m, found, err := getMessage(ctx, log, messageQuery{Sequence: seq})
		if err != nil {
			return nil, fmt.Errorf("read the facts around a gap: %w", err)
		}
		if found && m.bareSubject(log) == subjectEvents+lane {
			return runIn(m.header, m.data), nil
		}
	}
	return nil, nil //nolint:nilnil // none near
}

// run is the counter of a block: its place among the blocks of its appender.
type run struct {
	appender string
	block    uint64 // number of the block, from 0
	before   uint64 // events in the blocks before it
	events   uint64 // in this one
}

// headerBefore carries how many events the appender put on the log before the
// block. The message id carries the id of the appender and the number of the block.
const headerBefore = "Errata-Before"

// header carries the part of the counter that is not in the message id.
func (r run) header() nats.Header {
	return nats.Header{headerBefore: []string{strconv.FormatUint(r.before, 10)}}
}

func (r run) messageID() string { return r.appender + "." + strconv.FormatUint(r.block, 10) }

// runIn reads the counter of a block, nil when it has none.
func runIn(h nats.Header, data []byte) *run {
	appender, number, ok := strings.Cut(h.Get(jetstream.MsgIDHeader), ".")
	block, err := strconv.ParseUint(number, 10, 64)
	before, errBefore := strconv.ParseUint(h.Get(headerBefore), 10, 64)
	b, errBlock := BlockIDs(data)
	if !ok || errors.Join(err, errBefore, errBlock) != nil {
		return nil
	}
	return &run{appender: appender, block: block, before: before, events: uint64(b.Len())}
}

// estimate compares the counters around a gap of so many facts. Blocks of one
// appender on both sides give the exact number of its lost blocks and events. When
// the appender of the block after the gap began inside the gap, its counter gives
// the same. All other facts of the gap are unknown.
func estimate(before, after *run, facts uint64) Estimate {
	var blocks, events uint64
	switch {
	case after == nil:
	case before == nil || before.appender != after.appender:
		blocks, events = after.block, after.before
	case after.block > before.block:
		blocks, events = after.block-before.block-1, after.before-before.before-before.events
	}
	if blocks > facts {
		blocks, events = 0, 0 // some of them were in another gap
	}
	others := facts - blocks
	return Estimate{Least: events, Most: events + others*errata.MaxBlockEvents, Others: others}
}
