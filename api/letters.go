package api

import (
	"context"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest/natsin"
)

// Letters are the dead letters.
type Letters interface {
	// List returns the letters behind the id after, oldest first, at most
	// limit, and the number of all letters. Errors: log_unavailable.
	List(ctx context.Context, after uint64, limit int) (letters []natsin.Letter, total uint64, err error)
	// Replay publishes the letters with the ids again, or all when ids is nil,
	// and drops those that were taken. Errors: log_unavailable.
	Replay(ctx context.Context, ids []uint64) (done int, left []natsin.LetterNote, err error)
	// Drop removes the letters with the ids, or all when ids is nil. Errors:
	// log_unavailable.
	Drop(ctx context.Context, ids []uint64) (done int, left []natsin.LetterNote, err error)
}

const (
	// defaultLetters and maxLetters bound a page.
	defaultLetters = 25
	maxLetters     = 100
	// maxLetterIDs bounds the ids of one request.
	maxLetterIDs = 1000
)

type letterMetaJSON struct {
	NextCursor uint64 `json:"next_cursor"`
	Limit      int    `json:"limit"`
	Total      uint64 `json:"total"`
}

var errNoLetters = errata.Errorf(errata.KindNotFound, "This service takes no events over NATS.")

// listLetters answers one page, oldest first.
func (s *service) listLetters(c *call) (answer, error) {
	if s.Letters == nil {
		return answer{}, errNoLetters
	}
	limit, after, err := c.page(defaultLetters, maxLetters)
	if err != nil {
		return answer{}, err
	}
	letters, total, err := s.Letters.List(c.Request.Context(), after, limit)
	if err != nil {
		return answer{}, err
	}
	meta := letterMetaJSON{Limit: limit, Total: total}
	if len(letters) == limit {
		meta.NextCursor = letters[limit-1].ID
	}
	return answer{data: orEmpty(letters), meta: meta}, nil
}

// replayLetters publishes letters again.
func (s *service) replayLetters(c *call) (answer, error) {
	return s.withLetters(c, "replayed", Letters.Replay)
}

// dropLetters removes letters.
func (s *service) dropLetters(c *call) (answer, error) {
	return s.withLetters(c, "dropped", Letters.Drop)
}

func (s *service) withLetters(c *call, name string, do func(Letters, context.Context, []uint64) (int, []natsin.LetterNote, error)) (answer, error) {
	if s.Letters == nil {
		return answer{}, errNoLetters
	}
	var body struct {
		IDs []uint64 `json:"ids"`
		All bool     `json:"all"`
	}
	if err := c.bind(&body); err != nil { // after the check of Letters: 404 comes before 400
		return answer{}, err
	}
	switch {
	case body.All == (len(body.IDs) > 0):
		return answer{}, errata.Errorf(errata.KindInvalidBody, `Send either {"ids": [1, 2]} or {"all": true}.`)
	case len(body.IDs) > maxLetterIDs:
		return answer{}, errata.Errorf(errata.KindInvalidBody, "At most %d ids in one request.", maxLetterIDs)
	case body.All:
		body.IDs = nil
	}
	done, left, err := do(s.Letters, c.Request.Context(), body.IDs)
	return reply(map[string]any{name: done, "left": orEmpty(left)}, err)
}
