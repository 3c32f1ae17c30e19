package legacy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"

	"github.com/errata-log/errata/ingest"
)

// survey holds what is known of a file before its import.
type survey struct {
	hash   string // SHA-256 of its bytes, hexadecimal
	packed bool   // with gzip
	size   int64  // of its bytes
	total  int64  // of its bytes when unpacked
	// settled says that it ends with a line break and is not cut off.
	settled bool
	cut     bool // packed, and its end is missing or broken
}

var gzipMagic = []byte{0x1f, 0x8b}

var (
	errTooLarge = fmt.Errorf("it is larger than %d GiB", maxFile>>30)
	errBomb     = fmt.Errorf("it unpacks to more than %d times its size; if that is right, unpack it yourself", ingest.MaxRatio)
)

// look reads size bytes of the file once. It computes the hash, and finds out
// whether a packed file can be unpacked before any of it is imported.
func look(ctx context.Context, file io.ReaderAt, size int64) (survey, error) {
	s := survey{size: size}
	if size > maxFile {
		return s, errTooLarge
	}
	sum := sha256.New()
	in := &counter{r: io.TeeReader(&cancellable{ctx, io.NewSectionReader(file, 0, size)}, sum)}
	head := bufio.NewReaderSize(in, 256<<10)
	magic, _ := head.Peek(len(gzipMagic)) // a shorter file is no gzip
	s.packed = bytes.Equal(magic, gzipMagic)
	var last lastByte
	var err error
	if s.packed {
		err = s.unpack(head, in, &last)
	} else {
		_, err = io.Copy(&last, head)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, head) // the bytes behind the packed part
	}
	if err != nil {
		return s, err
	}
	if in.n != size {
		return s, fmt.Errorf("it became shorter while it was read: %d bytes of %d", in.n, size)
	}
	s.total = last.n
	s.settled = !s.cut && (last.n == 0 || last.b == '\n')
	s.hash = hex.EncodeToString(sum.Sum(nil))
	return s, nil
}

// unpack reads the packed part within the limits of a compressed body.
func (s *survey) unpack(packed io.Reader, in *counter, out *lastByte) error {
	z, err := gzip.NewReader(packed)
	if err != nil {
		s.cut = true
		return ofFile(err)
	}
	defer z.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := z.Read(buf)
		_, _ = out.Write(buf[:n]) // never fails
		switch {
		case out.n > maxFile:
			return errTooLarge
		case out.n > ingest.RatioGrace && out.n > in.n*ingest.MaxRatio:
			return errBomb
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			s.cut = true
			return ofFile(err)
		}
	}
}

// ofFile is err if reading failed, nil if unpacking failed: the import takes what
// could be unpacked.
func ofFile(err error) error {
	if _, ok := errors.AsType[*readError](err); ok {
		return err
	}
	return nil
}

// open opens the file at an offset of its unpacked bytes.
func (s *survey) open(ctx context.Context, file io.ReaderAt, offset int64) (io.Reader, error) {
	if offset > s.total {
		return nil, fmt.Errorf("it has %d bytes, but the import must go on at %d", s.total, offset)
	}
	whole := &cancellable{ctx, io.NewSectionReader(file, 0, s.size)}
	if !s.packed {
		return &cancellable{ctx, io.NewSectionReader(file, offset, s.size-offset)}, nil
	}
	z, err := gzip.NewReader(bufio.NewReaderSize(whole, 256<<10))
	if err != nil {
		return bytes.NewReader(nil), ofFile(err)
	}
	unpacked := io.Reader(z)
	if s.cut {
		unpacked = untilBroken{z}
	}
	if _, err := io.CopyN(io.Discard, unpacked, offset); err != nil {
		return nil, fmt.Errorf("unpack up to %d: %w", offset, err)
	}
	return unpacked, nil
}

// untilBroken ends where unpacking fails, as in the first reading.
type untilBroken struct{ r io.Reader }

func (u untilBroken) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if err != nil && ofFile(err) == nil {
		err = io.EOF
	}
	return n, err
}

// cancellable ends with its context, and makes a readError of an error of reading.
type cancellable struct {
	ctx context.Context //nolint:containedctx // a Reader is handed none
	r   io.Reader
}

type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }
func (e *readError) Unwrap() error { return e.err }

func (c *cancellable) Read(p []byte) (int, error) {
	if err := context.Cause(c.ctx); err != nil {
		return 0, &readError{err}
	}
	n, err := c.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &readError{err}
	}
	return n, err
}

// counter counts the bytes that are read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// lastByte counts the bytes that are written and keeps the last one.
type lastByte struct {
	n int64
	b byte
}

func (l *lastByte) Write(p []byte) (int, error) {
	if len(p) > 0 {
		l.b = p[len(p)-1]
		l.n += int64(len(p))
	}
	return len(p), nil
}
