package query

import (
	"maps"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

const (
	// maxSeconds bounds one query. The slowest search over 10 M records takes
	// about one second. A filter that takes five has to be narrowed.
	maxSeconds = 5
	// shallowWindow is the largest window that one thread reads in small blocks.
	// In-order reading fills one block of each part before it can stop. With a
	// filter that 1.3 % of 1 M rows match, it reads 179,000 rows in blocks of
	// 1,024, and 26,000 in blocks of 512.
	shallowWindow = 2000
	shallowBlock  = 512
	// deepBlock is the block of larger windows, where fewer blocks are faster:
	// 50,250 rows take 14 ms, and 18 ms in blocks of 512.
	deepBlock = 8192
	// minInOrder is how many rows must match for in-order reading to pay: one
	// thread reads most of the ClickHouse projection to find fewer. A page of 25
	// among 100 reads a quarter of it, 40 ms at 10 M records; the table itself
	// takes four times as long. For the same reason, the rows that match must be
	// at least inOrderShare times the window.
	minInOrder   = 100
	inOrderShare = 4
	// textBlock is the block of statements that read texts: 5 MB of text, which
	// the processor's cache holds. With ClickHouse's own 65,409 rows, a search
	// over 1 M records takes 100 ms instead of 70.
	textBlock = 16_384
	// shareRows is from how many rows on two threads share the work. ClickHouse's
	// own value is 163,840: then one thread alone searches 100,000 records for a
	// text that one in 400 has, and takes 32 ms instead of 26.
	shareRows = 8192
	// narrowGap is from how many rows on a gap is skipped; the index rules out the
	// rows of a gap. Two granules of a short text are read faster than skipped: 366
	// ms instead of 414 for a URI that one of 38 among 10 M records has, and no
	// change for one in 400. Messages would take a tenth longer, searches a quarter.
	narrowGap = 129
	// pagePatience is how long to wait for a page in order after the total has
	// said that another way is better. The page is being read already, and with
	// few records it comes sooner than from another query.
	pagePatience = 10 * time.Millisecond
)

// window is how many rows are searched at first for a page that ends with record
// number upTo. A record that is counted leaves cancelled states behind until the
// next merge, and the newest records are counted most often.
func window(upTo uint64) uint64 { return 2*upTo + 200 }

// narrowWindow is the same for a filter that few records match. Such records are
// seldom the ones that are counted now, and for each row of the window many rows
// that do not match are read.
func narrowWindow(upTo uint64) uint64 { return 2 * upTo }

// totals are the answer of total.sql.
type totals struct {
	// total counts the records, raw the rows, with those that cancel each other.
	total, raw uint64
}

func totalsOf(total int64, raw uint64) totals { return totals{uint64(max(total, 0)), raw} }

// cancelled is the number of rows that cancel each other. The first total plus
// cancelled rows are sure to hold every record.
func (t totals) cancelled() uint64 { return t.raw - t.total }

// due is how many records the page must have.
func (t totals) due(p Page) uint64 {
	offset := p.offset()
	if offset >= t.total {
		return 0
	}
	return min(uint64(p.Limit), t.total-offset)
}

// dense says that every record matches the filter, or every record of a range of
// times. Then the records of the page stand side by side in by_time.
func (f Filter) dense() bool {
	f.From, f.To = time.Time{}, time.Time{}
	return len(f.fragments()) == 0
}

// wide says that the filter needs columns that the ClickHouse projection by_time
// does not have.
func (f Filter) wide() bool {
	return f.File != "" || f.URI != "" || f.Message != "" || f.Search != "" || f.EventID != "" ||
		f.UserID != nil || f.IP.IsValid() || f.among != nil
}

// mayBeInOrder says whether by_time has the columns and the order for the page.
// The primary key finds a signature faster.
func mayBeInOrder(f Filter, p Page) bool {
	return !f.wide() && f.Signature == nil && p.Order == OrderLastSeen
}

// inOrder says whether to read the window from by_time, from one end until the
// page is full. raw is the number of rows that match.
func inOrder(f Filter, p Page, raw, window uint64) bool {
	return mayBeInOrder(f, p) && (f.dense() || raw >= minInOrder && raw/inOrderShare >= window)
}

// totalStatement counts the records. by_group serves filters on columns of few
// values, by_time those on time and count. ClickHouse chooses.
func totalStatement(f Filter) (statement, error) {
	settings := scanSettings(f)
	if !f.wide() && f.Signature == nil {
		settings = clickhouse.Settings{"max_threads": 2, "optimize_use_projections": 1, "preferred_optimize_projection_name": "by_group"}
	}
	return build("total.sql", statementData{}, f.fragments(), settings)
}

// scanSettings are for reading the table itself.
func scanSettings(f Filter) clickhouse.Settings {
	settings := clickhouse.Settings{
		"max_threads": 2, "max_block_size": textBlock, "optimize_use_projections": 0,
		"merge_tree_min_rows_for_concurrent_read": shareRows,
		// The index says which granules to read. Asking it about each row as well
		// takes a fifth longer for a frequent text, and no less for a rare one.
		"query_plan_direct_read_from_text_index": 0,
	}
	if f.narrow() {
		settings["merge_tree_min_rows_for_seek"] = narrowGap
	}
	if f.among != nil {
		maps.Copy(settings, groupSettings())
	}
	return settings
}

// narrow says that the filter uses the index of texts for short columns only.
func (f Filter) narrow() bool {
	return (f.File != "" || f.URI != "" || f.Class != "") && f.Message == "" && f.Search == ""
}

// slice is a part of the sorted result.
type slice struct {
	order         Order
	direction     Direction
	offset, limit uint64
	// window is how many rows, in the order, are searched for the slice.
	window uint64
}

// slice is the part of the result on the page, with the first window to search.
func (p Page) slice() slice {
	offset, limit := p.offset(), uint64(p.Limit)
	return slice{order: p.Order, direction: p.Direction, offset: offset, limit: limit, window: window(offset + limit)}
}

func (s slice) args() []any {
	return []any{bind("offset", s.offset), bind("limit", s.limit), bind("window", s.window)}
}

// pageStatement finds the keys of the slice, in by_time or in the table.
func pageStatement(f Filter, s slice, byTime bool) (statement, error) {
	fragments, settings := hinted(f.fragments()), scanSettings(f)
	if byTime {
		fragments, settings = renamed(f.fragments(), "books", "books_unindexed"), inOrderSettings(s.window)
	}
	data := statementData{Order: orderBy(s.order, s.direction)}
	return build("page.sql", data, fragments, settings, s.args()...)
}

// hinted are the fragments for reading the table: they use the index of its
// texts, which would keep ClickHouse from reading by_time.
func hinted(fragments []fragment) []fragment { return renamed(fragments, "class", "class_hinted") }

func renamed(fragments []fragment, from, to string) []fragment {
	for i := range fragments {
		if fragments[i].name == from {
			fragments[i].name = to
		}
	}
	return fragments
}

// inOrderSettings keep in-order reading from reading ahead. Buffering reads a
// hundred times the rows. With a selective filter, dynamic top-k filtering and
// lazy materialization of columns read whole parts.
func inOrderSettings(window uint64) clickhouse.Settings {
	settings := clickhouse.Settings{
		"optimize_use_projections":                 1,
		"read_in_order_use_buffering":              0,
		"use_top_k_dynamic_filtering":              0,
		"query_plan_optimize_lazy_materialization": 0,
		"max_threads":                              1,
		"max_block_size":                           shallowBlock,
	}
	if window > shallowWindow {
		settings["max_threads"] = 2
		settings["max_block_size"] = deepBlock
	}
	return settings
}

// keySettings are for reading a few rows by their primary key.
func keySettings() clickhouse.Settings {
	return clickhouse.Settings{"max_threads": 1, "optimize_use_projections": 0, "use_skip_indexes": 0}
}

func zeroOrOne(on bool) int {
	if on {
		return 1
	}
	return 0
}
