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
	// answerTimeout ends the wait when ClickHouse does not keep its own time
	// limit, because it is frozen or cannot be reached.
	answerTimeout = (maxSeconds + 3) * time.Second
	// outageRetry is how long a caller should wait before the next try. The
	// embedded ClickHouse is back within a second after a crash.
	outageRetry = 2 * time.Second
)

var errNoAnswer = errors.New("ClickHouse did not answer in time")

// bounded limits the wait for an answer. It sets no deadline, because the driver
// would turn the deadline into the query's time limit, in place of ours.
func bounded(ctx context.Context, patience time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(patience, func() { cancel(errNoAnswer) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}

// mistakes are ClickHouse's codes for a wrong query. The fault is in this
// package, and a retry does not help. Other errors, such as too little memory or
// tables that are still loading, may pass. The codes stand in ClickHouse's
// src/Common/ErrorCodes.cpp.
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

const (
	// timeoutExceeded is ClickHouse's code for a query that took too long.
	timeoutExceeded = 159
	// memoryExceeded is its code for a query that needs more memory than it may take, or than
	// ClickHouse has left.
	memoryExceeded = 241
)

// needsMemory says whether a query needed more memory than it could have.
func needsMemory(err error) bool {
	var answer *clickhouse.Exception
	return errors.As(err, &answer) && answer.Code == memoryExceeded
}

// explain turns err into an error for the caller, and reports damage to Trust.
func (r *Reader) explain(ctx context.Context, doing string, err error) error {
	if r.trust != nil && IsDamage(err) {
		r.trust.Suspect(err)
	}
	return explain(ctx, doing, err)
}

// explain turns err into an error for the caller. It is store_unavailable,
// unless err is an [errata.Error] already, the caller cancelled, or the query is
// wrong.
func explain(ctx context.Context, doing string, err error) error {
	var (
		told   *errata.Error
		answer *clickhouse.Exception
	)
	cause := context.Cause(ctx)
	message := "The store of the records does not answer: try again in a moment. Events are still taken."
	switch {
	case errors.As(err, &told):
		return err
	case cause != nil && !errors.Is(cause, errNoAnswer) && !errors.Is(cause, context.DeadlineExceeded):
		return fmt.Errorf("%s: %w", doing, err)
	case cause != nil:
		err = errors.Join(cause, err)
		message = "The store of the records did not answer in time: narrow the filter, or try again in a moment. Events are still taken."
	case errors.As(err, &answer) && mistakes[answer.Code] != "":
		return fmt.Errorf("%s: %w", doing, err)
	case errors.As(err, &answer) && answer.Code == timeoutExceeded:
		message = fmt.Sprintf("The query took longer than %d s and was ended: narrow the filter, or try again when the load is lower.", maxSeconds)
	case needsMemory(err):
		message = "The query needs more memory than it may take: narrow the filter, or try again when the load is lower."
	}
	return &errata.Error{Kind: errata.KindStoreUnavailable, Message: message, RetryAfter: outageRetry, Err: fmt.Errorf("%s: %w", doing, err)}
}
