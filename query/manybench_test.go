package query

import (
	"context"
	_ "embed"
	"strconv"
	"strings"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/test/testenv"
)

//go:embed testdata/load_hours.sql
var sqlLoadHours string

// BenchmarkMany measures the queries that read many records at once: the trends
// of a page, the overview, the count of a cleanup, and both polls of the feed.
// Its flags are those of BenchmarkReader.
func BenchmarkMany(b *testing.B) {
	for text := range strings.SplitSeq(*benchRecords, ",") {
		records, err := strconv.ParseUint(text, 10, 64)
		if err != nil || records == 0 {
			b.Fatalf("-records %q is not a list of numbers", *benchRecords)
		}
		b.Run("records="+text, func(b *testing.B) { benchmarkMany(b, records) })
	}
}

func benchmarkMany(b *testing.B, records uint64) {
	env := testenv.New(b)
	load(b, env.ClickHouse, records)
	if err := env.ClickHouse.Exec(b.Context(), sqlLoadHours); err != nil {
		b.Fatal(err)
	}
	last := time.UnixMilli(1795219200000).UTC()
	r := New(Config{ClickHouse: env.ReadOnlyClickHouse, Now: func() time.Time { return last }})
	page, err := r.Find(b.Context(), Filter{}, Page{Limit: MaxLimit})
	if err != nil {
		b.Fatal(err)
	}
	var keys []errata.RecordKey
	for _, record := range page.Records {
		keys = append(keys, record.Key())
	}
	newest := errata.Position(records * 8192)
	measure := func(name string, query func(ctx context.Context) error) {
		b.Run(name, func(b *testing.B) { percentiles(b, query) })
	}
	for _, name := range []string{"24h", "14d"} {
		measure("trends "+name, func(ctx context.Context) error {
			_, err := r.Trends(ctx, keys, name, Projects{})
			return err
		})
		measure("overview "+name, func(ctx context.Context) error {
			_, err := r.Overview(ctx, name, Projects{})
			return err
		})
	}
	measure("count up to", func(ctx context.Context) error {
		_, err := r.CountUpTo(ctx, last.AddDate(0, 0, -30), Projects{})
		return err
	})
	changes := Changes{From: newest - 100*8192, To: newest + 8192}
	near, far := changes, changes
	near.SeenFrom, far.SeenTo = last.Add(-time.Hour), last.Add(-time.Hour)
	for name, c := range map[string]Changes{"changed, last seen within an hour": near, "changed, last seen before": far} {
		measure(name, func(ctx context.Context) error {
			_, _, err := r.Changed(ctx, c, 100)
			return err
		})
	}
}
