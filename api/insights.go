package api

import (
	"context"
	"strings"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/query"
)

// Insights read many records at once.
type Insights interface {
	// Trends reads how often records were seen over a range such as 24h, in the
	// order of the keys; "" is the default. A record that does not exist, or is of
	// none of the projects, has zeros. Errors: invalid_range, store_unavailable.
	Trends(ctx context.Context, keys []errata.RecordKey, over string, among query.Projects) ([]query.Trend, error)
	// Overview reads what happened to the projects in a range. Errors: invalid_range,
	// store_unavailable.
	Overview(ctx context.Context, over string, among query.Projects) (query.Overview, error)
	// CountUpTo counts what a cleanup with this time would remove of the projects.
	// Errors: store_unavailable.
	CountUpTo(ctx context.Context, before time.Time, among query.Projects) (errata.Changed, error)
	// ProjectTotals counts the records and events of projects, by their numbers;
	// projects that have nothing are missing. Errors: store_unavailable.
	ProjectTotals(ctx context.Context, among query.Projects) (map[uint64]query.ProjectTotals, error)
	// Preview decides what a rule would have fired in the last days. gap is the least time
	// between two of its messages. Errors: store_unavailable.
	Preview(ctx context.Context, rule alerts.Rule, gap time.Duration) (query.Preview, error)
}

type spanJSON struct {
	Range string         `json:"range"`
	Step  string         `json:"step"`
	From  errata.Instant `json:"from"`
	To    errata.Instant `json:"to"`
}

func spanOf(r query.Range) spanJSON {
	span := spanJSON{Range: r.Name, Step: "day", From: errata.Instant(r.From), To: errata.Instant(r.To)}
	if r.Step == time.Hour {
		span.Step = "hour"
	}
	return span
}

type trendsJSON struct {
	spanJSON
	Trends []countsJSON `json:"trends"`
}

type countsJSON struct {
	Signature string   `json:"signature"`
	Type      string   `json:"type"`
	Total     uint64   `json:"total"`
	Counts    []uint64 `json:"counts"`
}

type overviewJSON struct {
	spanJSON
	Series  []seriesJSON  `json:"series"`
	Growing []growingJSON `json:"growing"`
	Noisy   []noisyJSON   `json:"noisy"`
	// ByProject has the projects of what Series counts.
	ByProject []projectEventsJSON `json:"by_project"`
}

type projectEventsJSON struct {
	Project   string `json:"project"`
	ProjectID uint64 `json:"project_id"`
	Events    uint64 `json:"events"`
}

type seriesJSON struct {
	Type   string   `json:"type"`
	Level  string   `json:"level"`
	Counts []uint64 `json:"counts"`
}

type growingJSON struct {
	Record recordJSON `json:"record"`
	Before uint64     `json:"before"`
	Now    uint64     `json:"now"`
}

type noisyJSON struct {
	Record recordJSON `json:"record"`
	Count  uint64     `json:"count"`
}

// getTrends is the trends of the records on a page.
func (s *service) getTrends(c *call) (answer, error) {
	keys, err := recordKeys(strings.Join(c.QueryArray("signatures"), ","))
	if err != nil {
		return answer{}, err
	}
	among, err := c.among()
	if err != nil {
		return answer{}, err
	}
	trends, err := s.Insights.Trends(c.Request.Context(), keys, c.Query("range"), among)
	if err != nil {
		return answer{}, err
	}
	data := trendsJSON{spanOf(trends[0].Range), make([]countsJSON, len(keys))}
	for i, key := range keys {
		data.Trends[i] = countsJSON{key.Signature.String(), key.Book.String(), trends[i].Total, trends[i].Counts}
	}
	return answer{data: data}, nil
}

// getOverview answers what happened in a range.
func (s *service) getOverview(c *call) (answer, error) {
	among, err := c.among()
	if err != nil {
		return answer{}, err
	}
	o, err := s.Insights.Overview(c.Request.Context(), c.Query("range"), among)
	recordOf, all := s.recordOf(), s.Projects.Known()
	return reply(overviewJSON{
		spanOf(o.Range),
		mapped(o.Series, func(s *query.Series) seriesJSON { return seriesJSON{s.Book.String(), s.Level.String(), s.Counts} }),
		mapped(o.Growing, func(g *query.Growing) growingJSON { return growingJSON{recordOf(&g.Record), g.Before, g.Now} }),
		mapped(o.Noisy, func(n *query.Noisy) noisyJSON { return noisyJSON{recordOf(&n.Record), n.Count} }),
		mapped(o.Projects, func(p *query.ProjectEvents) projectEventsJSON {
			return projectEventsJSON{all.SlugOf(p.Project), p.Project, p.Events}
		}),
	}, err)
}

// previewTimeout bounds a preview. The fold is a second behind, and some more under
// load; a person who waits longer learns that the records are behind.
const previewTimeout = 30 * time.Second

// previewCleanup says what a cleanup with the same body would remove.
func (s *service) previewCleanup(c *call, body cleanupBody) (answer, error) {
	before, echo, err := cutOff(body.Before)
	if err != nil {
		return answer{}, err
	}
	within, err := body.within(c)
	if err != nil {
		return answer{}, err
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), previewTimeout)
	defer cancel()
	// A cleanup removes also what is not folded yet.
	if err := s.Changes.Settle(ctx); err != nil {
		return answer{}, err
	}
	counted, err := s.Insights.CountUpTo(ctx, before, listed(within))
	return reply(struct {
		Before string         `json:"before"`
		Count  uint64         `json:"count"`
		Books  errata.Changed `json:"books"`
	}{echo, counted.Total(), counted}, err)
}

// maxTrends bounds the records of one request for trends: the longest page of
// the list.
const maxTrends = 100

// recordKeys reads a list of records, SIGNATURE or BOOK:SIGNATURE, each once.
// Without a book, system is meant, as everywhere.
func recordKeys(list string) ([]errata.RecordKey, error) {
	refused := func(kind errata.Kind, format string, args ...any) error {
		return errata.Errorf(kind, format, args...).With(map[string]any{"field": "signatures"})
	}
	seen := map[errata.RecordKey]bool{}
	var keys []errata.RecordKey
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		key := errata.RecordKey{Book: errata.BookSystem}
		name, text, named := strings.Cut(item, ":")
		if !named {
			text = name
		} else if book, known := errata.ParseBook(name); known {
			key.Book = book
		} else {
			return nil, refused(errata.KindInvalidType, "The type %q is neither system nor database.", cut(name))
		}
		var err error
		if key.Signature, err = errata.ParseSignature(text); err != nil {
			return nil, refused(errata.KindSignatureRequired, "%q is not a signature: it has 32 hex digits, as the list shows it.", cut(text))
		}
		if seen[key] {
			continue
		}
		seen[key] = true
		if keys = append(keys, key); len(keys) > maxTrends {
			return nil, refused(errata.KindTooManySignatures, "One request takes at most %d signatures; send several requests.", maxTrends)
		}
	}
	if len(keys) == 0 {
		return nil, refused(errata.KindSignatureRequired, "Send signatures, a comma list with at least one signature: 32 hex digits, as the list shows it.")
	}
	return keys, nil
}
