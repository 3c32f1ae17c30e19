package api

import (
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
)

type bucketJSON struct {
	Time  errata.Instant `json:"time"`
	Count uint64         `json:"count"`
}

type trendJSON struct {
	Signature string `json:"signature"`
	Type      string `json:"type"`
	spanJSON
	Total   uint64       `json:"total"`
	Buckets []bucketJSON `json:"buckets"`
}

// getTrend is the trend of one record.
func (s *service) getTrend(c *call) (answer, error) {
	book, signature, err := c.record()
	if err != nil {
		return answer{}, err
	}
	trend, err := s.Records.Trend(c.Request.Context(), book, signature, c.Query("range"), c.visible())
	data := trendJSON{signature.String(), book.String(), spanOf(trend.Range), trend.Total, make([]bucketJSON, len(trend.Counts))}
	for i, n := range trend.Counts {
		data.Buckets[i] = bucketJSON{errata.Instant(trend.From.Add(time.Duration(i) * trend.Step)), n}
	}
	return reply(data, err)
}

type stepCountsJSON struct {
	Count  uint64   `json:"count"`
	Counts []uint64 `json:"counts"`
}

type releaseCountsJSON struct {
	Value string `json:"value"`
	stepCountsJSON
}

type otherReleasesJSON struct {
	Releases uint64 `json:"releases"`
	stepCountsJSON
}

type releaseTrendJSON struct {
	Signature string `json:"signature"`
	Type      string `json:"type"`
	spanJSON
	Total    uint64              `json:"total"`
	Counts   []uint64            `json:"counts"`
	Releases []releaseCountsJSON `json:"releases"`
	Others   otherReleasesJSON   `json:"others"`
	NotKept  stepCountsJSON      `json:"not_kept"`
}

// getReleaseTrend is the trend of one record by release.
func (s *service) getReleaseTrend(c *call) (answer, error) {
	book, signature, err := c.record()
	if err != nil {
		return answer{}, err
	}
	trend, err := s.Records.ReleaseTrend(c.Request.Context(), book, signature, c.Query("range"), c.visible())
	return reply(releaseTrendJSON{
		signature.String(), book.String(), spanOf(trend.Range), trend.Total, trend.Counts,
		mapped(trend.Releases, func(r *query.ReleaseCounts) releaseCountsJSON {
			return releaseCountsJSON{r.Release, stepCountsOf(r.StepCounts)}
		}),
		otherReleasesJSON{trend.OtherReleases, stepCountsOf(trend.Others)}, stepCountsOf(trend.NotKept),
	}, err)
}

func stepCountsOf(c query.StepCounts) stepCountsJSON { return stepCountsJSON{c.Total, c.Counts} }

// record is the book and the signature that a request is about.
func (c *call) record() (errata.Book, errata.Signature, error) {
	signature, err := errata.ParseSignature(c.Param("signature"))
	if err != nil {
		return 0, signature, errata.Errorf(errata.KindSignatureRequired, "%q is not a signature: it has 32 hex digits, as the list shows it.", cut(c.Param("signature")))
	}
	name := c.Query("type")
	if name == "" {
		return errata.BookSystem, signature, nil
	}
	book, known := errata.ParseBook(name)
	if !known {
		return 0, signature, errata.Errorf(errata.KindInvalidType, "The type %q is neither system nor database.", cut(name))
	}
	return book, signature, nil
}
