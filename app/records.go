package app

import (
	"context"
	"net/url"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/query"
)

// records is the projection as the API sees it.
type records struct {
	reader *query.Reader
	now    func() time.Time // relative dates count from it
}

var _ api.Records = records{}

// List finds records by the query parameters of the list endpoint.
func (r records) List(ctx context.Context, values url.Values) (api.Page, error) {
	filter, page, err := query.Parse(values, r.now())
	if err != nil {
		return api.Page{}, err
	}
	list, err := r.reader.List(ctx, filter, page)
	if err != nil {
		return api.Page{}, err
	}
	return api.Page(list), nil
}

// Detail finds one record with its payload.
func (r records) Detail(ctx context.Context, book errata.Book, signature errata.Signature) (api.Detail, error) {
	record, payload, err := r.reader.Detail(ctx, book, signature)
	if err != nil {
		return api.Detail{}, err
	}
	return api.Detail{Record: record, Payload: payload}, nil
}

// Trend reads how often a record was seen over a range.
func (r records) Trend(ctx context.Context, book errata.Book, signature errata.Signature, over string) (api.Trend, error) {
	steps, err := query.ParseRange(over, r.now())
	if err != nil {
		return api.Trend{}, err
	}
	trend, err := r.reader.Trend(ctx, book, signature, steps)
	if err != nil {
		return api.Trend{}, err
	}
	return api.Trend{Name: trend.Name, From: trend.From, To: trend.To, Step: trend.Step, Counts: trend.Counts, Total: trend.Total}, nil
}
