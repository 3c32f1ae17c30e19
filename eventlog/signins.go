package eventlog

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nuid"
)

// The names of the facts of sign-ins.
const (
	SignInEvaluate = "evaluate" // a decision about a sign-in was asked for
	SignInOutcome  = "outcome"  // the sign-in has ended
)

// AppendSignIn puts a fact of a sign-in on the log in the name of
// [errata.ActorOf](ctx); body becomes JSON. It tries until the outcome is known or
// settingTimeout is over. Kinds: log_full; log_unavailable when the outcome is not
// known.
func AppendSignIn(ctx context.Context, log Log, name string, body any) (sequence uint64, err error) {
	data, err := json.Marshal(body)
	if err != nil {
		return 0, fmt.Errorf("encode sign-in %s: %w", name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, settingTimeout)
	defer cancel()
	return appendChange(ctx, log, subjectSignIns+name, data, nuid.Next(), func(err error) error {
		return logAway("the log could not confirm the sign-in in time; send it again", fmt.Errorf("append sign-in %s: %w", name, err))
	})
}

// NewOutcomesReader is NewReader for the outcomes of sign-ins only. It cannot
// report a gap, because it does not read other facts. Errors: also ErrLogPurged.
func NewOutcomesReader(ctx context.Context, log Log, from uint64) (*Reader, error) {
	return newReader(ctx, log, from, log.Prefix+subjectSignIns+SignInOutcome)
}
