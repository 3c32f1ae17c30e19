package query_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
	"github.com/errata-log/errata/test/querytest"
	"github.com/errata-log/errata/test/testenv"
)

// model is what the records should be: a plain list, which the simplest correct
// code filters, sorts and cuts into pages.
type model struct {
	random  *rand.Rand
	version errata.Position
	live    []errata.Record
	gone    []errata.Record // deleted; their signatures may be seen again
	seen    map[errata.Position]querytest.Seen
}

func newModel(seed uint64) *model {
	return &model{random: rand.New(rand.NewPCG(seed, 1)), version: errata.PositionOf(1, 0), seen: map[errata.Position]querytest.Seen{}}
}

func pick[T any](m *model, from ...T) T { return from[m.random.IntN(len(from))] }

// The vocabularies are small, so that many records have equal fields and filters
// match the same records.
var (
	modelDay      = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	modelMessages = []string{
		"Order %d failed", "ORDER %d FAILED: 50%% off", "Übergröße in Straße %d", "ÜBERGRÖSSE IN STRASSE %d", "путь %d не найден",
		"ПУТЬ %d НЕ НАЙДЕН", `C:\temp\%d`, "it's %d o'clock", "under_score %d", "first line of %d", "deadbeef %d", "",
	}
	// modelEnds follow a preview in the whole message.
	modelEnds         = []string{"", "", "\nsecond line\tDES %d", "\n\nοδός\n%d", "\n" + strings.Repeat("Übermaß ", 60) + "end"}
	modelCauses       = []string{"PDOException", "SQLSTATE[HY%d] gone\taway", "ПРИЧИНА", ""}
	modelTransactions = []string{"", "", "GET /orders/%d", "worker: Übergabe"}
	modelFiles        = []string{"src/Order.php", "SRC/order.PHP", "src/Cart/Item_%d.php", "lib/größe.go", "app.js", ""}
	modelClasses      = []string{"TypeError", "App\\Order\\Failed", "RuntimeException", "ошибка", ""}
	modelURIs         = []string{"/checkout?page=2", "/Checkout", "/api/100%/x", "/a_b", "/order/%d", ""}
	modelMethods      = []string{"GET", "POST", "PUT", "get", ""}
	modelIPs          = []string{"", "203.0.113.9", "203.0.113.77", "10.1.2.3", "10.200.0.1", "2001:db8::1", "2001:db8:8000::1", "::1"}
)

// text fills in a number if the format has a place for one.
func (m *model) text(formats []string) string {
	format := pick(m, formats...)
	if !strings.Contains(format, "%d") {
		return format
	}
	return fmt.Sprintf(format, m.random.IntN(300))
}

func (m *model) next() errata.Position {
	m.version += errata.Position(1 + m.random.IntN(3))
	return m.version
}

// sight is a new record. Its signature may be that of a deleted one.
func (m *model) sight() errata.Record {
	r := errata.Record{
		Book: pick(m, errata.BookSystem, errata.BookSystem, errata.BookSystem, errata.BookDatabase), Count: 1,
		Level: errata.Level(1 + m.random.IntN(7)), File: m.text(modelFiles), Line: uint32(m.random.IntN(40)),
		Message: m.text(modelMessages), Class: m.text(modelClasses), URI: m.text(modelURIs), Method: pick(m, modelMethods...),
		UserID: int64(m.random.IntN(200) - 20), Status: errata.StatusOpen, Noise: m.random.IntN(8) == 0,
	}
	for i := range r.Signature {
		r.Signature[i] = byte(m.random.Uint32())
	}
	if len(m.gone) > 0 && m.random.IntN(4) == 0 {
		old := m.gone[len(m.gone)-1]
		m.gone = m.gone[:len(m.gone)-1]
		r.Book, r.Signature = old.Book, old.Signature
	}
	r.Project = 1 + uint64(r.Signature[0]%5) // it follows from the signature
	if text := pick(m, modelIPs...); text != "" {
		r.IP = netip.MustParseAddr(text)
	}
	r.ID = m.next()
	m.seen[r.ID] = m.see(r.Message)
	r.Version = r.ID
	r.LastSeen = m.instant()
	r.FirstSeen = r.LastSeen
	return r
}

// see is the context of a new record.
func (m *model) see(preview string) querytest.Seen {
	seen := querytest.Seen{Message: preview, Transaction: m.text(modelTransactions)}
	if preview != "" {
		seen.Message += m.text(modelEnds)
	}
	for range m.random.IntN(2) {
		seen.Causes = append(seen.Causes, m.text(modelCauses), m.text(modelCauses))
	}
	if m.random.IntN(2) == 0 {
		seen.EventID = fmt.Sprintf("%016x%016x", m.random.Uint64(), m.random.Uint64())
	}
	return seen
}

// payload is the context as the pipeline writes it. The thrown exception stands last.
func payload(r errata.Record, seen querytest.Seen, dashed bool) (string, error) {
	type link struct {
		Class   string `json:"class,omitempty"`
		Message string `json:"message,omitempty"`
	}
	var chain []link
	for i := 0; i < len(seen.Causes); i += 2 {
		chain = append(chain, link{seen.Causes[i], seen.Causes[i+1]})
	}
	id := seen.EventID
	if dashed && id != "" {
		id = strings.ToUpper(id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:])
	}
	text, err := json.Marshal(map[string]any{
		"event_id": id, "message": seen.Message, "transaction": seen.Transaction, "exceptions": append(chain, link{r.Class, seen.Message}),
	})
	return string(text), err
}

// writeContexts writes the contexts of the records.
func (m *model) writeContexts(ctx context.Context, t testing.TB, conn driver.Conn) {
	t.Helper()
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO contexts (book, signature, id, payload, gone)")
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Close()
	for i, r := range m.live {
		text, err := payload(r, m.seen[r.ID], i%2 == 0)
		if err == nil {
			err = batch.Append(r.Book.String(), string(r.Signature[:]), uint64(r.ID), text, uint8(0))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
}

// instant is a recent time; many records share one.
func (m *model) instant() time.Time {
	days := m.random.IntN(30) * m.random.IntN(30) / 30
	return modelDay.Add(-time.Duration(days) * 24 * time.Hour).Add(time.Duration(m.random.IntN(500)) * 100 * time.Millisecond)
}

// seeAgain is the next state of a record.
func (m *model) seeAgain(r errata.Record) errata.Record {
	r.Version = m.next()
	r.Count += uint64(1 + m.random.IntN(30))
	at := m.instant()
	if at.After(r.LastSeen) {
		r.LastSeen = at
	}
	if at.Before(r.FirstSeen) {
		r.FirstSeen = at
	}
	if r.Status == errata.StatusResolved {
		r.Status, r.Regressed = errata.StatusOpen, true
	}
	return r
}

// decide is the next state of a record that a command changes. One command may
// change many records; all of them get the version of the command.
func (m *model) decide(r errata.Record, version errata.Position) errata.Record {
	r.Version = version
	r.Status = pick(m, errata.Statuses...)
	r.Regressed = false
	return r
}

// row is one row of the table.
type row struct {
	record errata.Record
	sign   int8
}

// grow makes new records, and returns their rows.
func (m *model) grow(n int) []row {
	var rows []row
	for range n {
		r := m.sight()
		m.live = append(m.live, r)
		rows = append(rows, row{r, 1})
	}
	return rows
}

// change touches some of the records, by a command or because they were seen
// again, deletes a few, and returns the rows.
func (m *model) change(touch, remove int) []row {
	m.random.Shuffle(len(m.live), func(i, j int) { m.live[i], m.live[j] = m.live[j], m.live[i] })
	var rows []row
	command := m.next()
	for i, old := range m.live[:touch] {
		if i%5 == 0 {
			m.live[i] = m.decide(old, command)
		} else {
			m.live[i] = m.seeAgain(old)
		}
		rows = append(rows, row{old, -1}, row{m.live[i], 1})
	}
	keep := len(m.live) - remove
	for _, old := range m.live[keep:] {
		rows = append(rows, row{old, -1})
		m.gone = append(m.gone, old)
	}
	m.live = m.live[:keep]
	return rows
}

// insert writes the rows as one block, and a checkpoint with them, as the
// projector does.
func insert(ctx context.Context, t testing.TB, conn driver.Conn, rows []row) {
	t.Helper()
	batch, err := testenv.NewRecordBatch(ctx, conn)
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Close()
	add := func(book string, r errata.Record, checkpoint string, sign int8) {
		if err := batch.Add(book, r, checkpoint, sign); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range rows {
		add(row.record.Book.String(), row.record, "", row.sign)
	}
	last := rows[len(rows)-1].record.Version
	add("checkpoint", errata.Record{Version: last, Count: 1 << 40, FirstSeen: time.UnixMilli(0), LastSeen: time.UnixMilli(0), Status: errata.StatusOpen}, "{}", 1)
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
}

// list is the whole result, sorted.
func (m *model) list(f query.Filter, order query.Order, direction query.Direction) []errata.Record {
	return querytest.Select(m.live, func(r errata.Record) querytest.Seen { return m.seen[r.ID] }, f, order, direction)
}
