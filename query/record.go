package query

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/packed"
)

// Detail reads one record of the projects and the context of its first sighting, one
// JSON object. A lost context is {}; the projector prevents that, because it writes
// the context before the record. Errors: not_found, store_unavailable.
func (r *Reader) Detail(ctx context.Context, book errata.Book, signature errata.Signature, among Projects) (errata.Record, json.RawMessage, error) {
	ctx, stop := bounded(ctx, r.patience)
	defer stop()
	var (
		record  errata.Record
		payload json.RawMessage
	)
	err := r.trusting(func() (err error) {
		record, payload, err = r.detail(ctx, book, signature, among)
		return err
	})
	if err != nil {
		return errata.Record{}, nil, r.explain(ctx, "read a record", err)
	}
	return record, payload, nil
}

func (r *Reader) detail(ctx context.Context, book errata.Book, signature errata.Signature, among Projects) (errata.Record, json.RawMessage, error) {
	var (
		record  errata.Record
		counted users
		newest  uint64
		payload json.RawMessage
		failed  error // to read the payload: without a record it does not matter
	)
	err := atOnce(
		func() (err error) { record, err = r.record(ctx, book, signature, among); return err },
		func() (err error) { counted, err = r.usersNow(ctx, []errata.Signature{signature}); return err },
		func() error { newest, payload, failed = r.payload(ctx, book, signature, 0); return nil },
	)
	if err != nil {
		return errata.Record{}, nil, err
	}
	// The newest context may be of a later record: when this one is deleted and
	// seen again, the new context is written first. The older one is still there.
	if failed == nil && newest != uint64(record.ID) {
		_, payload, failed = r.payload(ctx, book, signature, uint64(record.ID))
	}
	if failed != nil {
		return errata.Record{}, nil, fmt.Errorf("read the payload: %w", failed)
	}
	record.Users = counted[record.ID]
	return record, payload, nil
}

// noRecord is the error where there is none.
func noRecord(book errata.Book, signature errata.Signature) error {
	return errata.Errorf(errata.KindNotFound, "The %s book has no record of signature %s; the other book may have one.", book, signature)
}

// record reads a record. To the caller, one of another project does not exist.
func (r *Reader) record(ctx context.Context, book errata.Book, signature errata.Signature, among Projects) (errata.Record, error) {
	q, err := build("record.sql", statementData{}, nil, keySettings(),
		bind("book", book.String()), bind("signature", signature.String()))
	if err != nil {
		return errata.Record{}, err
	}
	var column string
	err = r.queryRow(ctx, q).Scan(&column)
	if errors.Is(err, sql.ErrNoRows) || err == nil && column == "" {
		return errata.Record{}, noRecord(book, signature)
	}
	if err != nil {
		return errata.Record{}, err
	}
	record, err := packed.Decode(column)
	if err == nil && !among.Has(record.Project) {
		return errata.Record{}, noRecord(book, signature)
	}
	return record, err
}

// payload reads the context with the id, or the newest for id 0, and {} if
// there is none.
func (r *Reader) payload(ctx context.Context, book errata.Book, signature errata.Signature, id uint64) (uint64, json.RawMessage, error) {
	q, err := build("payload.sql", statementData{ByID: id != 0}, nil, keySettings(),
		bind("book", book.String()), bind("signature", signature.String()), bind("id", id))
	if err != nil {
		return 0, nil, err
	}
	var text string
	switch err := r.queryRow(ctx, q).Scan(&id, &text); {
	case errors.Is(err, sql.ErrNoRows):
		return id, json.RawMessage("{}"), nil
	case err != nil:
		return 0, nil, err
	}
	return id, json.RawMessage(text), nil
}
