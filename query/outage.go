package query

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	errata "github.com/errata-log/errata"
)

const (
	// answerTimeout ends the wait for an engine that does not even keep its
	// own time limit, because it is frozen or cut off.
	answerTimeout = (maxSeconds + 3) * time.Second
	// outageRetry is when a caller should ask again. The embedded engine is
	// back within a second of a crash.
	outageRetry = 2 * time.Second
)

var errNoAnswer = errors.New("ClickHouse did not answer in time")

// bounded limits the wait for an answer. It is no deadline: the driver would
// make one into a time limit of the query, in place of ours.
func bounded(ctx context.Context, patience time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(patience, func() { cancel(errNoAnswer) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}

// mistakes are ClickHouse's codes for what is wrong with a query, not with the
// engine: they are ours, and trying again does not help. Whatever else it
// answers, such as too little memory or tables that are still being loaded, may
// pass. The codes stand in its src/Common/ErrorCodes.cpp.
var mistakes = map[int32]string{
	6:   "CANNOT_PARSE_TEXT",
	27:  "CANNOT_PARSE_INPUT_ASSERTION_FAILED",
	36:  "BAD_ARGUMENTS",
	43:  "ILLEGAL_TYPE_OF_ARGUMENT",
	46:  "UNKNOWN_FUNCTION",
	47:  "UNKNOWN_IDENTIFIER",
	53:  "TYPE_MISMATCH",
	62:  "SYNTAX_ERROR",
	72:  "CANNOT_PARSE_NUMBER",
	115: "UNKNOWN_SETTING",
	164: "READONLY",
	215: "NOT_AN_AGGREGATE",
	386: "NO_COMMON_TYPE",
	427: "CANNOT_COMPILE_REGEXP",
	456: "UNKNOWN_QUERY_PARAMETER",
	457: "BAD_QUERY_PARAMETER",
	497: "ACCESS_DENIED",
	691: "UNKNOWN_ELEMENT_OF_ENUM",
}

// timeoutExceeded is ClickHouse's code for a query that took too long.
const timeoutExceeded = 159

// explain says why there is no answer, and tells of damage.
func (r *Reader) explain(ctx context.Context, doing string, err error) error {
	if r.trust != nil && IsDamage(err) {
		r.trust.Suspect(err)
	}
	return explain(ctx, doing, err)
}

// explain makes an error one that the caller can be told about. Unless it
// already is one, or the caller gave up, or the query is wrong, the store is
// not there.
func explain(ctx context.Context, doing string, err error) error {
	var (
		told   *errata.Error
		answer *clickhouse.Exception
	)
	cause := context.Cause(ctx)
	switch {
	case errors.As(err, &told):
		return err
	case cause != nil && !errors.Is(cause, errNoAnswer) && !errors.Is(cause, context.DeadlineExceeded):
		return fmt.Errorf("%s: %w", doing, err)
	case cause != nil:
		err = errors.Join(cause, err)
	case errors.As(err, &answer) && mistakes[answer.Code] != "":
		return fmt.Errorf("%s: %w", doing, err)
	case errors.As(err, &answer) && answer.Code == timeoutExceeded:
		return &errata.Error{
			Kind:       errata.KindStoreUnavailable,
			Message:    fmt.Sprintf("The query took longer than %d s and was ended: narrow the filter, or try again when there is less to do.", maxSeconds),
			RetryAfter: outageRetry,
			Err:        fmt.Errorf("%s: %w", doing, err),
		}
	}
	return &errata.Error{
		Kind:       errata.KindStoreUnavailable,
		Message:    "The store of the records does not answer: try again in a moment. Events are still taken.",
		RetryAfter: outageRetry,
		Err:        fmt.Errorf("%s: %w", doing, err),
	}
}
