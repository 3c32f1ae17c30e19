package testenv

import (
	"context"
	"net/netip"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

// RecordBatch is rows of records that a test writes itself, as one block.
type RecordBatch struct{ driver.Batch }

// NewRecordBatch begins a batch; the caller closes it.
func NewRecordBatch(ctx context.Context, conn driver.Conn) (RecordBatch, error) {
	//nolint:clickhouselint // whoever asks for it closes it
	batch, err := conn.PrepareBatch(ctx, `INSERT INTO records (book, signature, id, version, count, first_seen, last_seen,
		level, file, line, message_preview, exception_class, request_uri, request_method, user_id, ip, status, regressed, checkpoint, sign,
		project, environments, releases, noise)`)
	return RecordBatch{batch}, err
}

// Add appends a row. book is the value of the column, because a checkpoint has a
// book of its own.
func (b RecordBatch) Add(book string, r errata.Record, checkpoint string, sign int8) error {
	ip := netip.IPv6Unspecified()
	if r.IP.IsValid() {
		ip = netip.AddrFrom16(r.IP.As16())
	}
	return b.Append(book, string(r.Signature[:]), uint64(r.ID), uint64(r.Version), r.Count, r.FirstSeen, r.LastSeen,
		r.Level.String(), r.File, r.Line, r.Message, r.Class, r.URI, r.Method, r.UserID, ip, string(r.Status), r.Regressed, checkpoint, sign,
		r.Project, r.Environments, r.Releases, r.Noise)
}
