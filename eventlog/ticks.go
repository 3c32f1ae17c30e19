package eventlog

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"
)

// Tick is a fact that says how late it is: some things happen because nothing does. Both
// times are Unix time in minutes.
type Tick struct {
	Version int   `json:"v"`
	Minute  int64 `json:"minute"`
	// Since is the minute from which on the service has taken events without a break.
	Since int64 `json:"since"`
}

// tickVersion is the one that this build writes and reads.
const tickVersion = 1

// AppendTick puts a tick on the log. The log takes one for each minute, whoever sends it. It
// tries once: the next tick says how late it is then.
func AppendTick(ctx context.Context, log Log, t Tick) error {
	t.Version = tickVersion
	data, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("encode a tick: %w", err)
	}
	msg := &nats.Msg{Subject: log.Prefix + subjectTicks, Data: data, Header: withSum(nats.Header{}, subjectTicks, data)}
	if _, err := publishMsg(ctx, log, msg, fmt.Sprintf("tick-%d", t.Minute)); err != nil {
		return fmt.Errorf("append a tick: %w", err)
	}
	return nil
}

// LastTick reads the newest tick; found is false when there is none that can be read.
func LastTick(ctx context.Context, log Log) (t Tick, found bool, err error) {
	m, found, err := getMessage(ctx, log, messageQuery{LastFor: log.Prefix + subjectTicks})
	if err != nil || !found || !m.sound(log) {
		return Tick{}, false, err
	}
	t, found = DecodeTick(m.data)
	return t, found, nil
}

// DecodeTick reads the data of a tick. ok is false for one that this version cannot read,
// which every replay leaves out too.
func DecodeTick(data []byte) (t Tick, ok bool) {
	if json.Unmarshal(data, &t) != nil || t.Version != tickVersion || t.Minute <= 0 || t.Minute > maxMinute || t.Since < 0 || t.Since > t.Minute {
		return Tick{}, false
	}
	return t, true
}

// maxMinute is in the year 2106, the last one that the tables can hold.
const maxMinute = 1 << 32 / 60
