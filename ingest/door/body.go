package door

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
)

// Options are the limits of a body. The zero Options are the limits of package
// ingest, without a bound of memory.
type Options struct {
	// MaxWire bounds the bytes as sent; 0 means ingest.MaxWireBody.
	MaxWire int64
	// MaxOpen bounds the bytes after decompression; 0 means ingest.MaxOpenBody.
	MaxOpen int64
	// Budget is shared by all receivers; nil means unbounded.
	Budget *Budget
	// Sender is charged for the memory. If its key is not known yet, the caller calls
	// Identify when it is.
	Sender Sender
	// Turns gives a large body its turn before it is parsed; nil: none is needed, or the
	// sender is not known yet.
	Turns Turns
}

const (
	// baseCharge is the memory of a request with the smallest body: the read buffers
	// and the tables of a decompressor.
	baseCharge = 64 << 10
	// retryOverload is how long a sender should wait when the budget is spent.
	// Requests take milliseconds, so all of it is free after a second.
	retryOverload = time.Second
)

// Body is an opened request body. Read gives the decompressed bytes; its
// errors are io.EOF or *errata.Error of the kinds invalid_body,
// body_too_large and overloaded. Close it when the memory that was charged to it
// is free, not earlier and not later.
type Body struct {
	ahead   ahead
	wire    wireReader
	src     *bufio.Reader // of gzip and deflate
	begin   *Buffer       // of brotli and zstd: what was read before decompression began
	packed  wireReader    // of brotli and zstd: what the decompressor reads from
	open    io.Reader
	done    func(keep bool) // gives the decompressor back
	coding  coding
	maxOpen int64
	most    int64 // upper bound of the bytes after decompression
	read    int64
	err     error // the last error of Read, which stays, io.EOF included
	closed  bool

	budget  *Budget
	seat    seat
	sits    bool  // the seat is taken
	held    int64 // charged for as long as the body is open
	decoder int64 // charged until the last byte has been read
}

// Open prepares r's body for reading. It needs w so that the server closes the
// connection of a body over the limit, and does not read the rest.
// Errors: unsupported_media_type, body_too_large, invalid_body, overloaded.
func Open(w http.ResponseWriter, r *http.Request, o Options) (*Body, error) {
	if o.MaxWire <= 0 {
		o.MaxWire = ingest.MaxWireBody
	}
	if o.MaxOpen <= 0 {
		o.MaxOpen = ingest.MaxOpenBody
	}
	c, err := codingOf(r.Header)
	if err != nil {
		return nil, err
	}
	if r.ContentLength > o.MaxWire {
		return nil, tooLarge(o.MaxWire, "as sent")
	}
	b := &Body{coding: c, maxOpen: o.MaxOpen, most: o.MaxOpen, budget: o.Budget}
	if c == identity && r.ContentLength >= 0 {
		b.most = min(r.ContentLength, o.MaxOpen)
	}
	b.ahead = ahead{body: b, ctx: r.Context(), r: http.MaxBytesReader(w, r.Body, o.MaxWire), length: r.ContentLength, turns: o.Turns}
	b.wire.r = &b.ahead
	if err := b.sit(r.Context(), o.Sender, baseCharge); err != nil {
		return nil, err
	}
	if err := b.openCoding(r); err != nil {
		b.Close()
		return nil, b.explain(err)
	}
	return b, nil
}

// sit takes a place and n bytes of the budget for the body.
func (b *Body) sit(ctx context.Context, from Sender, n int64) (err error) {
	if b.seat, err = b.budget.open(ctx, from, n); err != nil {
		return err
	}
	b.held, b.sits = n, true
	return nil
}

// rise gives back the place and all bytes.
func (b *Body) rise() {
	if b.sits {
		b.budget.release(b.seat, holding{1, b.held + b.decoder})
		b.held, b.decoder, b.sits = 0, 0, false
	}
}

// Identify charges the body to its sender from now on, when the key was read from the
// body, and asks turns for its turn. The error has kind overloaded; then the body can
// only be closed.
func (b *Body) Identify(ctx context.Context, from Sender, turns Turns) error {
	held, decoder := b.held, b.decoder
	// The bytes are given back first: a key that has to wait must not use the share
	// of the senders without a key.
	b.rise()
	if err := b.sit(ctx, from, held+decoder); err != nil {
		return err
	}
	b.held, b.decoder = held, decoder
	b.ahead.turns = turns
	return nil
}

// Read gives decompressed bytes.
func (b *Body) Read(p []byte) (int, error) {
	if b.err == nil && b.closed {
		b.err = errata.Errorf(errata.KindInvalidBody, "the body was read after it was closed")
	}
	if b.err != nil {
		return 0, b.err
	}
	if err := b.ahead.begin(b.read); err != nil {
		b.err = b.explain(err)
		return 0, b.err
	}
	n, err := b.open.Read(p)
	b.read += int64(n)
	switch {
	case b.read > b.maxOpen:
		n, b.err = 0, tooLarge(b.maxOpen, "after decompression")
	case b.coding != identity && b.read > ingest.RatioGrace && b.read > ingest.MaxRatio*b.unpacked():
		n, b.err = 0, errata.Errorf(errata.KindBodyTooLarge,
			"the body decompresses to more than %d times its size; send it in smaller or plain requests", ingest.MaxRatio)
	case err == io.EOF:
		b.err = io.EOF
		b.releaseDecoder()
	case err != nil:
		b.err = b.explain(err)
	}
	return n, b.err
}

// Length is the length of a body that is not compressed, as it was declared; else 0.
func (b *Body) Length() int64 {
	if b.coding != identity || b.ahead.length < 0 {
		return 0
	}
	return min(b.ahead.length, b.maxOpen)
}

// unpacked is how many bytes the decompressor has read.
func (b *Body) unpacked() int64 {
	if b.coding.windowed() {
		return b.packed.n
	}
	return b.wire.n
}

// Charge adds n bytes of memory that the request holds until Close. It fails
// with kind overloaded when the budget is spent. It does not wait, because the
// request already holds memory that others may wait for.
func (b *Body) Charge(n int) error {
	if !b.budget.try(b.seat, int64(n)) {
		return overloaded()
	}
	b.held += int64(n)
	return nil
}

// Close gives back the turn, the decompressor and all memory. The server closes the
// request's own body. A second Close does nothing.
func (b *Body) Close() error {
	b.ahead.leave()
	b.releaseDecoder()
	b.ahead.free()
	b.rise()
	b.closed = true
	return nil
}

func (b *Body) releaseDecoder() {
	if b.done != nil {
		b.done(b.read <= maxPooledOutput)
		b.done = nil
		b.open = nil
	}
	if b.src != nil {
		putSource(b.src)
		b.src = nil
	}
	if b.begin != nil {
		b.begin.Free()
		b.begin = nil
	}
	b.budget.release(b.seat, holding{bytes: b.decoder})
	b.decoder = 0
}

// explain turns a reader's error into one for the sender. An error of the connection
// counts first: decompressors hide it behind their own.
func (b *Body) explain(err error) error {
	if b.wire.err != nil {
		err = b.wire.err
	}
	if told, ok := errors.AsType[*errata.Error](err); ok {
		return told
	}
	if over, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge(over.Limit, "as sent").Because(err)
	}
	switch {
	case isWindowTooLarge(err):
		return errata.Errorf(errata.KindBodyTooLarge,
			"the body needs a decompression window over %d MiB; compress it with a smaller one", maxWindow>>20).Because(err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errata.Errorf(errata.KindInvalidBody, "the body arrived too slowly").Because(err)
	case b.coding == identity:
		return errata.Errorf(errata.KindInvalidBody, "the body ended before its announced length").Because(err)
	default:
		return errata.Errorf(errata.KindInvalidBody, "the body is not complete, valid %s", b.coding).Because(err)
	}
}

func tooLarge(limit int64, when string) *errata.Error {
	return errata.Errorf(errata.KindBodyTooLarge, "the body is larger than %d bytes %s; send less in one request", limit, when)
}

func overloaded() *errata.Error {
	e := errata.Errorf(errata.KindOverloaded, "too many bytes are in flight; send the request again later")
	e.RetryAfter = retryOverload
	return e
}

// wireReader counts the bytes as sent and remembers the connection's error.
type wireReader struct {
	r   io.Reader
	n   int64
	err error
}

func (w *wireReader) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.n += int64(n)
	if err != nil && err != io.EOF {
		w.err = err
	}
	return n, err
}
