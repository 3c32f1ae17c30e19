package api

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	errata "github.com/errata-log/errata"
)

// LogCare knows what of the log is gone.
type LogCare interface {
	// LogState is what is known.
	LogState(ctx context.Context) LogState
	// VerifyLog reads the whole log. Kinds: log_unavailable.
	VerifyLog(ctx context.Context) (LogReport, error)
	// AcceptGaps accepts every gap that nobody has decided about, in the name of
	// an operator and of [errata.ActorOf](ctx). Kinds: log_full, log_unavailable.
	AcceptGaps(ctx context.Context, name string) ([]LogGap, error)
}

// LogGap is a stretch of the log whose facts are gone.
type LogGap struct {
	From        uint64 `json:"from"`
	To          uint64 `json:"to"`
	Why         string `json:"why"` // missing, unreadable, older
	LeastEvents uint64 `json:"least_events"`
	MostEvents  uint64 `json:"most_events"`
	// Others is how many of the facts may have been commands or settings.
	Others uint64 `json:"others"`
	Files  string `json:"files"`
	By     string `json:"by"` // policy, operator
	Name   string `json:"name"`
}

// LogState is what is known of the log's gaps.
type LogState struct {
	Policy  string     `json:"policy"`
	Open    []LogGap   `json:"open"`
	Settled []LogGap   `json:"settled"`
	Back    []LogGap   `json:"back"`
	Looked  *time.Time `json:"looked"`
}

// LogReport is what reading every fact of the log found.
type LogReport struct {
	OK     bool     `json:"ok"`
	First  uint64   `json:"first"`
	Last   uint64   `json:"last"`
	Facts  uint64   `json:"facts"`
	Blocks uint64   `json:"blocks"`
	Events uint64   `json:"events"`
	Bytes  uint64   `json:"bytes"`
	Gaps   []LogGap `json:"gaps"`
}

// maxOperator is how long the name of an operator may be, in characters.
const maxOperator = 100

func (s *service) logState(c *call) (answer, error) {
	return answer{data: s.LogCare.LogState(c.Request.Context())}, nil
}

// verifyLog reads the log, however long that takes.
func (s *service) verifyLog(c *call) (answer, error) {
	defer c.withoutDeadline()()
	report, err := s.LogCare.VerifyLog(c.Request.Context())
	if err != nil {
		return answer{}, err
	}
	return answer{data: report}, nil
}

func (s *service) acceptGaps(c *call) (answer, error) {
	var body struct {
		By string `json:"by"`
	}
	if err := c.bind(&body); err != nil {
		return answer{}, err
	}
	name := strings.TrimSpace(body.By)
	if n := utf8.RuneCountInString(name); n == 0 || n > maxOperator {
		return answer{}, errata.Errorf(errata.KindInvalidBody, "by: want the name of who decides, 1 to %d characters.", maxOperator)
	}
	gaps, err := s.LogCare.AcceptGaps(c.Request.Context(), name)
	if err != nil {
		return answer{}, err
	}
	return answer{data: gaps}, nil
}
