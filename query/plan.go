package query

import (
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

const (
	// maxSeconds bounds one query. The slowest search over 10 M records takes
	// about one; what takes five should be narrowed.
	maxSeconds = 5
	// shallowWindow is up to how many rows a page is looked for in small
	// blocks by one thread. In-order reading fills a block per part before it
	// can stop: with 1,024 rows a filter that lets 1.3 % through read 179 k of
	// 1 M rows, with 512 it read 26 k.
	shallowWindow = 2000
	shallowBlock  = 512
	// deepBlock is for large windows, where few blocks matter more: 50,250 rows
	// in 14 ms, in blocks of 512 in 18.
	deepBlock = 8192
	// minInOrder is how many rows must match for in-order reading to pay: with
	// fewer, most of the projection would be read by one thread to find them. A
	// page of 25 among 100 reads a quarter of it, 40 ms of 10 M records; the table
	// itself takes four times as long.
	// inOrderShare is how many times the window they must be, for the same
	// reason.
	minInOrder   = 100
	inOrderShare = 4
	// textBlock is how many rows are looked through at a time where texts are
	// read: 5 MB of them, which the processor's cache holds. With 65,409 rows, the
	// engine's own choice, a search over 1 M records takes 100 ms instead of 70.
	textBlock = 16_384
	// shareRows is from how many rows on two threads look through them. The engine's
	// own 163,840 leave a text that one of 400 among 100,000 records has, in a sixth
	// of the granules, to one thread: 32 ms instead of 26.
	shareRows = 8192
	// narrowGap is up to how many rows that the index has ruled out, less one, are
	// read on the way: two granules of a short text take less time than to skip them.
	// An address in one of 38 of 10 M records takes 366 ms instead of 414, one in
	// 400 as long as before; messages would take a tenth more, all texts a quarter.
	narrowGap = 129
	// pagePatience is how long a page in order is waited for when the total has
	// said that it is not the way: it is being read already, and with few records
	// that is through sooner than another query.
	pagePatience = 10 * time.Millisecond
)

// window is in how many rows the records up to and with the page are looked
// for at first. A record that is being counted leaves cancelled states behind
// until the next merge, and the newest records are being counted most.
func window(upTo uint64) uint64 { return 2*upTo + 200 }

// narrowWindow is the same for a filter that lets few records through: the newest
// of those are seldom the ones that are being counted, and each row of the
// window takes many that do not match.
func narrowWindow(upTo uint64) uint64 { return 2 * upTo }

// totals are the answer of total.sql.
type totals struct {
	// total counts the records, raw the rows, cancelled ones included.
	total, raw uint64
}

func totalsOf(total int64, raw uint64) totals { return totals{uint64(max(total, 0)), raw} }

// cancelled is the number of rows that cancel each other, so that total plus
// cancelled rows certainly hold every record.
func (t totals) cancelled() uint64 { return t.raw - t.total }

// due is how many records stand on the page.
func (t totals) due(p Page) uint64 {
	offset := p.offset()
	if offset >= t.total {
		return 0
	}
	return min(uint64(p.Limit), t.total-offset)
}

// dense says that the filter lets every record through, or every one of a
// range of times: then by_time holds the page side by side.
func (f Filter) dense() bool {
	f.From, f.To = time.Time{}, time.Time{}
	return len(f.fragments()) == 0
}

// wide says that the filter needs columns that the projection by_time has not.
func (f Filter) wide() bool {
	return f.File != "" || f.URI != "" || f.Message != "" || f.Search != "" ||
		f.UserID != nil || f.IP.IsValid() || len(noiseFragments(f)) > 0
}

// mayBeInOrder says whether by_time has the columns and the order for the page.
// A signature is found by the primary key.
func mayBeInOrder(f Filter, p Page) bool {
	return !f.wide() && f.Signature == nil && p.Order == OrderLastSeen
}

// inOrder says whether by_time is the way to the window, when so many rows
// match: read from one end until the page is full.
func inOrder(f Filter, p Page, raw, window uint64) bool {
	return mayBeInOrder(f, p) && (f.dense() || raw >= minInOrder && raw/inOrderShare >= window)
}

// totalStatement counts. by_group answers filters by what has few values, by_time
// those by time and count; the engine chooses.
func totalStatement(f Filter) (statement, error) {
	settings := scanSettings(f)
	if !f.wide() && f.Signature == nil {
		settings = clickhouse.Settings{"max_threads": 2, "optimize_use_projections": 1, "preferred_optimize_projection_name": "by_group"}
	}
	return build("total.sql", statementData{}, f.fragments(), settings)
}

// scanSettings are for looking through the table itself.
func scanSettings(f Filter) clickhouse.Settings {
	settings := clickhouse.Settings{
		"max_threads": 2, "max_block_size": textBlock, "optimize_use_projections": 0,
		"merge_tree_min_rows_for_concurrent_read": shareRows,
		// The index says which granules to open. To ask it about each of their rows
		// as well takes a fifth longer where a text is frequent, and no rare one less.
		"query_plan_direct_read_from_text_index": 0,
	}
	if f.narrow() {
		settings["merge_tree_min_rows_for_seek"] = narrowGap
	}
	return settings
}

// narrow says that the index of texts rules rows out for short columns only.
func (f Filter) narrow() bool {
	return (f.File != "" || f.URI != "" || f.Class != "") && f.Message == "" && f.Search == ""
}

// slice is a part of the sorted result.
type slice struct {
	order         Order
	direction     Direction
	offset, limit uint64
	// window bounds the rows that are looked at.
	window uint64
}

// slice is the page in the window that it is looked for in first.
func (p Page) slice() slice {
	offset, limit := p.offset(), uint64(p.Limit)
	return slice{order: p.Order, direction: p.Direction, offset: offset, limit: limit, window: window(offset + limit)}
}

func (s slice) args() []any {
	return []any{bind("offset", s.offset), bind("limit", s.limit), bind("window", s.window)}
}

// pageStatement finds the keys of the slice, through by_time or not.
func pageStatement(f Filter, s slice, byTime bool) (statement, error) {
	fragments, settings := hinted(f.fragments()), scanSettings(f)
	if byTime {
		fragments, settings = renamed(f.fragments(), "books", "books_unindexed"), inOrderSettings(s.window)
	}
	data := statementData{Order: orderBy(s.order, s.direction)}
	return build("page.sql", data, fragments, settings, s.args()...)
}

// hinted are the fragments for reading the table: with the index of its texts,
// which would keep the engine from a projection.
func hinted(fragments []fragment) []fragment { return renamed(fragments, "class", "class_hinted") }

func renamed(fragments []fragment, from, to string) []fragment {
	for i := range fragments {
		if fragments[i].name == from {
			fragments[i].name = to
		}
	}
	return fragments
}

// inOrderSettings keep in-order reading from reading ahead: buffering reads a
// hundred times the rows, and both the dynamic filter of top-k and late reading
// of columns make it read whole parts where a filter is selective.
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
