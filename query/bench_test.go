package query

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/test/testenv"
)

//go:embed testdata/load_deployments.sql
var sqlLoadDeployments string

var benchRecords = flag.String("records", "100000", "how many records the benchmarks read, a comma list")

// BenchmarkReader measures every filter with its total over one connection, and
// SELECT 1 over the same connection to compare with. For useful medians and p99:
//
//	go test ./query -run - -bench . -benchtime 200x -records 100000,1000000
func BenchmarkReader(b *testing.B) {
	for text := range strings.SplitSeq(*benchRecords, ",") {
		records, err := strconv.ParseUint(text, 10, 64)
		if err != nil || records == 0 {
			b.Fatalf("-records %q is not a list of numbers", *benchRecords)
		}
		b.Run("records="+text, func(b *testing.B) { benchmarkReader(b, records) })
	}
}

func benchmarkReader(b *testing.B, records uint64) {
	env := testenv.New(b)
	load(b, env.ClickHouse, records)
	if err := env.ClickHouse.Exec(b.Context(), sqlLoadDeployments); err != nil {
		b.Fatal(err)
	}
	r := New(Config{ClickHouse: env.ReadOnlyClickHouse})
	some := sample(b, r)
	b.Run("select 1", func(b *testing.B) {
		percentiles(b, func(ctx context.Context) error {
			var one uint8
			return env.ReadOnlyClickHouse.QueryRow(ctx, "SELECT 1").Scan(&one)
		})
	})
	b.Run("detail", func(b *testing.B) {
		percentiles(b, func(ctx context.Context) error {
			_, _, err := r.Detail(ctx, some.Book, some.Signature, Projects{})
			return err
		})
	})
	for _, c := range benchLists(some) {
		b.Run(c.name, func(b *testing.B) {
			percentiles(b, func(ctx context.Context) error {
				list, err := r.Find(ctx, c.filter, c.page)
				if err == nil && list.Total == 0 {
					err = fmt.Errorf("nothing matches %+v", c.filter)
				}
				return err
			})
		})
	}
}

type benchList struct {
	name   string
	filter Filter
	page   Page
}

func benchLists(some errata.Record) []benchList {
	// Each message of load.sql has a hexadecimal word of its own.
	rare := strings.Fields(some.Message)[5]
	last := time.UnixMilli(1795219200000).UTC()
	single := netip.PrefixFrom(some.IP, some.IP.BitLen())
	return []benchList{
		{"default", Filter{}, Page{}},
		{"project", Filter{Projects: OnlyProjects(7)}, Page{}},
		{"environment", Filter{Environments: Names{"production"}}, Page{}},
		{"environment of a project", Filter{Environments: Names{"production"}, Projects: OnlyProjects(7)}, Page{}},
		{"environment, wildcard", Filter{Environments: Names{"prod*"}}, Page{}},
		{"release", Filter{Releases: Names{"shop@1.3"}}, Page{}},
		{"environment and release", Filter{Environments: Names{"production"}, Releases: Names{"shop@1.3"}}, Page{}},
		{"environment, open", Filter{Environments: Names{"production"}, Statuses: []errata.Status{errata.StatusOpen}}, Page{}},
		{"any environment, open", Filter{Environments: Names{"*"}, Statuses: []errata.Status{errata.StatusOpen}}, Page{}},
		{"environment, muted", Filter{Environments: Names{"production"}, Statuses: []errata.Status{errata.StatusMuted}}, Page{}},
		{"environment, half of the methods", Filter{Environments: Names{"production"}, Method: "GET"}, Page{}},
		{"environment, hide_noise, order count", Filter{Environments: Names{"production"}, HideNoise: true}, Page{Order: OrderCount}},
		{"environment, order count", Filter{Environments: Names{"production"}}, Page{Order: OrderCount}},
		{"types", Filter{Books: []errata.Book{errata.BookDatabase}}, Page{}},
		{"levels", Filter{Levels: []errata.Level{errata.LevelFatal}}, Page{}},
		{"status", Filter{Statuses: []errata.Status{errata.StatusMuted}}, Page{}},
		{"exception_class rare", Filter{Class: "Class299Exception"}, Page{}},
		{"exception_class common", Filter{Class: "class1"}, Page{}},
		{"min_occurrence", Filter{MinOccurrence: 50}, Page{}},
		{"date_range 30 days", Filter{From: last.AddDate(0, 0, -30)}, Page{}},
		{"date_range an old week", Filter{From: last.AddDate(0, 0, -60), To: last.AddDate(0, 0, -53)}, Page{}},
		{"http_method", Filter{Method: "DELETE"}, Page{}},
		{"hide_noise", Filter{HideNoise: true}, Page{}},
		{"signature", Filter{Signature: &some.Signature}, Page{}},
		{"user_id", Filter{UserID: &some.UserID}, Page{}},
		{"ip", Filter{IP: single}, Page{}},
		{"ip prefix", Filter{IP: netip.PrefixFrom(some.IP, 24).Masked()}, Page{}},
		{"file", Filter{File: some.File}, Page{}},
		{"file wildcard", Filter{File: "module7*handler1*"}, Page{}},
		{"request_uri", Filter{URI: "customers/77"}, Page{}},
		{"message rare", Filter{Message: rare}, Page{}},
		{"message common", Filter{Message: "db42"}, Page{}},
		{"message wildcard", Filter{Message: "undefined*db42"}, Page{}},
		{"search rare", Filter{Search: rare}, Page{}},
		{"search common", Filter{Search: "db42"}, Page{}},
		{"search all", Filter{Search: "undefined"}, Page{}},
		{"offset 2,500", Filter{}, Page{Number: 101}},
		{"offset 25,000", Filter{}, Page{Number: 1001}},
		{"last page", Filter{}, Page{Direction: Descending, Number: 3990, Limit: 25}},
		{"order count", Filter{}, Page{Order: OrderCount}},
		{"order first_seen", Filter{}, Page{Order: OrderFirstSeen}},
		{"order file", Filter{}, Page{Order: OrderFile}},
	}
}

// sample is a record that has everything the benchmarks filter by.
func sample(b *testing.B, r *Reader) errata.Record {
	b.Helper()
	list, err := r.Find(b.Context(), Filter{Class: "exception", MinOccurrence: 2}, Page{Order: OrderID, Direction: Ascending, Limit: MaxLimit})
	if err != nil {
		b.Fatal(err)
	}
	for _, record := range list.Records {
		if record.UserID > 0 {
			return record
		}
	}
	b.Fatal("no record with a user")
	return errata.Record{}
}

// percentiles runs the query b.N times and reports median and p99.
func percentiles(b *testing.B, query func(ctx context.Context) error) {
	for range 5 { // the first runs open connections and fill caches
		if err := query(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		if err := query(b.Context()); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	report := func(name string, share int) {
		b.ReportMetric(float64(took[(len(took)-1)*share/100])/float64(time.Millisecond), name)
	}
	report("p50-ms", 50)
	report("p99-ms", 99)
	b.ReportMetric(0, "ns/op") // the mean of a skewed distribution says little
}
