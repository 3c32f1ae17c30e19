package api

import (
	"context"
	"strings"
	"unicode/utf8"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/logcare"
)

// LogCare knows the gaps of the log.
type LogCare interface {
	// State is what is known of the gaps.
	State() logcare.State
	// Verify reads the whole log. Kinds: log_unavailable.
	Verify(ctx context.Context) (logcare.Report, error)
	// Settle accepts every gap that nobody has decided about, in the name of
	// an operator and of [errata.ActorOf](ctx). Kinds: log_full, log_unavailable.
	Settle(ctx context.Context, name string) ([]logcare.Gap, error)
}

// maxOperator is how long the name of an operator may be, in characters.
const maxOperator = 100

func (s *service) logState(c *call) (answer, error) {
	return answer{data: s.LogCare.State()}, nil
}

// verifyLog reads the log, however long that takes.
func (s *service) verifyLog(c *call) (answer, error) {
	defer c.withoutDeadline()()
	return reply(s.LogCare.Verify(c.Request.Context()))
}

type acceptBody struct {
	By string `json:"by"`
}

func (s *service) acceptGaps(c *call, body acceptBody) (answer, error) {
	name := strings.TrimSpace(body.By)
	if n := utf8.RuneCountInString(name); n == 0 || n > maxOperator {
		return answer{}, errata.Errorf(errata.KindInvalidBody, "by: want the name of who decides, 1 to %d characters.", maxOperator)
	}
	return reply(s.LogCare.Settle(c.Request.Context(), name))
}
