package projector

import (
	"net/netip"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

// bookColumn is the type of every book column.
const bookColumn = "Enum8('checkpoint' = 0, 'system' = 1, 'database' = 2)"

// checkpointBook is the book of the rows that are not records.
const checkpointBook = "checkpoint"

// recordRows are rows of the table records, column by column.
type recordRows struct {
	book                        []string
	signature                   [][]byte
	id, version, count          []uint64
	firstSeen, lastSeen         []int64 // Unix milliseconds
	level, file                 []string
	line                        []uint32
	message, class, uri, method []string
	userID                      []int64
	ip                          []netip.Addr
	status                      []string
	regressed                   []bool
	checkpoint                  []string
	sign                        []int8
	project                     []uint64
	environments, releases      [][]string
	noise                       []bool
}

func newRecordRows(n int) *recordRows {
	return &recordRows{
		book: make([]string, 0, n), signature: make([][]byte, 0, n),
		id: make([]uint64, 0, n), version: make([]uint64, 0, n), count: make([]uint64, 0, n),
		firstSeen: make([]int64, 0, n), lastSeen: make([]int64, 0, n),
		level: make([]string, 0, n), file: make([]string, 0, n), line: make([]uint32, 0, n),
		message: make([]string, 0, n), class: make([]string, 0, n), uri: make([]string, 0, n), method: make([]string, 0, n),
		userID: make([]int64, 0, n), ip: make([]netip.Addr, 0, n),
		status: make([]string, 0, n), regressed: make([]bool, 0, n), checkpoint: make([]string, 0, n), sign: make([]int8, 0, n),
		project: make([]uint64, 0, n), environments: make([][]string, 0, n), releases: make([][]string, 0, n), noise: make([]bool, 0, n),
	}
}

// add appends the row of a state of a record. The row that cancels it is made of
// the same record with the other sign.
func (t *recordRows) add(r *errata.Record, sign int8) {
	t.row(r, r.Book.String(), "", sign)
}

// addCheckpoints appends the row that cancels checkpoint from, unless that is the
// zero Checkpoint, and the row of checkpoint to.
func (t *recordRows) addCheckpoints(key errata.Signature, from, to Checkpoint) error {
	if from.Row != 0 {
		if err := t.addCheckpoint(key, from, -1); err != nil {
			return err
		}
	}
	return t.addCheckpoint(key, to, 1)
}

func (t *recordRows) addCheckpoint(key errata.Signature, cp Checkpoint, sign int8) error {
	text, err := cp.encode()
	if err != nil {
		return err
	}
	// Its time is zero so that it is at the end of every list by time.
	t.row(&errata.Record{
		Signature: key, Version: errata.Position(cp.Row), Count: cp.Events,
		FirstSeen: time.UnixMilli(0), LastSeen: time.UnixMilli(0), Status: errata.StatusOpen,
	}, checkpointBook, text, sign)
	return nil
}

// addAnswer appends the row that holds the answer to a command.
func (t *recordRows) addAnswer(key errata.Signature, sequence uint64, answer eventlog.Answer) {
	t.row(&errata.Record{
		Signature: key, Version: errata.Position(sequence),
		FirstSeen: time.UnixMilli(0), LastSeen: time.UnixMilli(0), Status: errata.StatusOpen,
	}, checkpointBook, string(answer), 1)
}

func (t *recordRows) row(r *errata.Record, book, checkpoint string, sign int8) {
	t.book = append(t.book, book)
	t.signature = append(t.signature, r.Signature[:])
	t.id = append(t.id, uint64(r.ID))
	t.version = append(t.version, uint64(r.Version))
	t.count = append(t.count, r.Count)
	t.firstSeen = append(t.firstSeen, r.FirstSeen.UnixMilli())
	t.lastSeen = append(t.lastSeen, r.LastSeen.UnixMilli())
	t.level = append(t.level, r.Level.String())
	t.file = append(t.file, r.File)
	t.line = append(t.line, r.Line)
	t.message = append(t.message, r.Message)
	t.class = append(t.class, r.Class)
	t.uri = append(t.uri, r.URI)
	t.method = append(t.method, r.Method)
	t.userID = append(t.userID, r.UserID)
	t.ip = append(t.ip, ipColumn(r.IP))
	t.status = append(t.status, string(r.Status))
	t.regressed = append(t.regressed, r.Regressed)
	t.checkpoint = append(t.checkpoint, checkpoint)
	t.sign = append(t.sign, sign)
	t.project = append(t.project, r.Project)
	t.environments = append(t.environments, r.Environments)
	t.releases = append(t.releases, r.Releases)
	t.noise = append(t.noise, r.Noise)
}

// moveTo puts the rows into the batch, in the order of insert_records.sql. The next rows use
// their memory again.
func (t *recordRows) moveTo(batch driver.Batch) error {
	err := appendColumns(batch, t.book, t.signature, t.id, t.version, t.count, t.firstSeen, t.lastSeen, t.level, t.file, t.line, t.message,
		t.class, t.uri, t.method, t.userID, t.ip, t.status, t.regressed, t.checkpoint, t.sign,
		t.project, t.environments, t.releases, t.noise)
	*t = recordRows{
		book: t.book[:0], signature: t.signature[:0], id: t.id[:0], version: t.version[:0], count: t.count[:0],
		firstSeen: t.firstSeen[:0], lastSeen: t.lastSeen[:0], level: t.level[:0], file: t.file[:0], line: t.line[:0],
		message: t.message[:0], class: t.class[:0], uri: t.uri[:0], method: t.method[:0], userID: t.userID[:0], ip: t.ip[:0],
		status: t.status[:0], regressed: t.regressed[:0], checkpoint: t.checkpoint[:0], sign: t.sign[:0],
		project: t.project[:0], environments: t.environments[:0], releases: t.releases[:0], noise: t.noise[:0],
	}
	return err
}

// ipColumn returns an address as the column holds it: IPv4 mapped, :: for unknown.
func ipColumn(ip netip.Addr) netip.Addr {
	if !ip.IsValid() {
		return netip.IPv6Unspecified()
	}
	return netip.AddrFrom16(ip.As16())
}
