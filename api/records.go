package api

import (
	"context"
	"encoding/json"
	"net/url"

	errata "github.com/errata-log/errata"
)

// Records reads error records.
type Records interface {
	// List finds records by the query parameters of the list endpoint. Errors:
	// the invalid_… kind of the parameter, store_unavailable.
	List(ctx context.Context, query url.Values) (Page, error)
	// Detail finds one record with the context of its first sighting. Errors:
	// not_found, store_unavailable.
	Detail(ctx context.Context, book errata.Book, signature errata.Signature) (Detail, error)
	// Trend reads how often a record was seen over a range such as 24h; "" is
	// the default. Errors: invalid_range, not_found, store_unavailable.
	Trend(ctx context.Context, book errata.Book, signature errata.Signature, over string) (Trend, error)
}

// Page is one page of a list.
type Page struct {
	Records []errata.Record
	// Total counts the records that match on all pages.
	Total uint64
	// Page and Limit are the values that were used.
	Page, Limit int
	// NextPage is 0 on the last page.
	NextPage int
}

// Detail is a record with its payload, a JSON object; empty means {}.
type Detail struct {
	Record  errata.Record
	Payload json.RawMessage
}

// recordJSON is a record in answers: the contract's 15 fields in its order,
// then ours.
type recordJSON struct {
	ID             errata.Position `json:"id"`
	Signature      string          `json:"signature"`
	Type           string          `json:"type"`
	Level          string          `json:"level"`
	Count          uint64          `json:"count"`
	FirstSeen      instant         `json:"first_seen"`
	LastSeen       instant         `json:"last_seen"`
	File           string          `json:"file"`
	Line           uint32          `json:"line"`
	MessagePreview string          `json:"message_preview"`
	ExceptionClass string          `json:"exception_class"`
	RequestURI     string          `json:"request_uri"`
	RequestMethod  string          `json:"request_method"`
	UserID         int64           `json:"user_id"`
	IP             string          `json:"ip"`
	Status         errata.Status   `json:"status"`
	Regressed      bool            `json:"regressed"`
	Overflow       bool            `json:"overflow"`
}

type detailJSON struct {
	recordJSON
	Payload json.RawMessage `json:"payload"`
}

type pageJSON struct {
	Total    uint64 `json:"total"`
	Page     int    `json:"page"`
	Limit    int    `json:"limit"`
	NextPage int    `json:"next_page"`
}

// listErrors is B1.
func (s *service) listErrors(c *call) (answer, error) {
	page, err := s.Records.List(c.Request.Context(), c.Request.URL.Query())
	if err != nil {
		return answer{}, err
	}
	rows := make([]recordJSON, 0, len(page.Records))
	for i := range page.Records {
		rows = append(rows, recordOf(&page.Records[i]))
	}
	return answer{
		data: rows,
		meta: pageJSON{Total: page.Total, Page: page.Page, Limit: page.Limit, NextPage: page.NextPage},
	}, nil
}

// getError is B2.
func (s *service) getError(c *call) (answer, error) {
	book, signature, err := c.record()
	if err != nil {
		return answer{}, err
	}
	detail, err := s.Records.Detail(c.Request.Context(), book, signature)
	if err != nil {
		return answer{}, err
	}
	payload := detail.Payload
	if len(payload) == 0 {
		payload = json.RawMessage("{}")
	}
	return answer{data: detailJSON{recordOf(&detail.Record), payload}}, nil
}

func recordOf(r *errata.Record) recordJSON {
	row := recordJSON{
		ID:             r.ID,
		Signature:      r.Signature.String(),
		Type:           r.Book.String(),
		Level:          r.Level.String(),
		Count:          r.Count,
		FirstSeen:      instant(r.FirstSeen),
		LastSeen:       instant(r.LastSeen),
		File:           r.File,
		Line:           r.Line,
		MessagePreview: r.Message,
		ExceptionClass: r.Class,
		RequestURI:     r.URI,
		RequestMethod:  r.Method,
		UserID:         r.UserID,
		Status:         r.Status,
		Regressed:      r.Regressed,
		Overflow:       r.Signature.Overflow(),
	}
	if r.IP.IsValid() {
		row.IP = r.IP.Unmap().String()
	}
	return row
}
