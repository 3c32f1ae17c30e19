package door

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
)

// coding is a content coding that can be decoded.
type coding string

const (
	identity coding = "identity"
	gzipped  coding = "gzip"
	deflated coding = "deflate"
	brotlied coding = "br"
	zstded   coding = "zstd"
)

const (
	// sourceSize is the read buffer before a decompressor. Most bodies fit.
	sourceSize = 8 << 10
	// maxPooledOutput bounds the output of a decompressor that goes back to the pool:
	// brotli's ring buffer grows with its output.
	maxPooledOutput = 256 << 10
	// pooledWindow bounds the windows of pooled zstd decoders. SDKs send single
	// frames whose window is the size of the event.
	pooledWindow = 256 << 10
	// maxWindow is the largest zstd window that is accepted. RFC 8878 asks for 8 MiB;
	// a frame may declare terabytes.
	maxWindow = 8 << 20
	// brotliGap is the difference between the window of brotli and how far it looks
	// back.
	brotliGap = 16
	// beginSize is how many bytes of a body with a window must be there, unless it is
	// shorter, before memory is taken for the window. The largest window, 16 MiB, is
	// within MaxRatio of it.
	beginSize = 256 << 10
	// blockSpace is the memory of a zstd decoder beside its window.
	blockSpace = 256 << 10
)

// codingOf reads Content-Encoding. Only one coding is accepted: bombs nest several,
// SDKs do not.
func codingOf(h http.Header) (coding, error) {
	found := identity
	for _, line := range h["Content-Encoding"] {
		for name := range strings.SplitSeq(line, ",") {
			var c coding
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "", "identity":
				continue
			case "gzip", "x-gzip":
				c = gzipped
			case "deflate":
				c = deflated
			case "br":
				c = brotlied
			case "zstd":
				c = zstded
			default:
				return identity, errata.Errorf(errata.KindUnsupportedMediaType,
					"the content encoding is not known; use gzip, deflate, br, zstd or none")
			}
			if found != identity {
				return identity, errata.Errorf(errata.KindUnsupportedMediaType, "only one content encoding is taken")
			}
			found = c
		}
	}
	return found, nil
}

// Windowed says whether the sender chooses how much memory the decompression takes,
// up to 16 MiB. For other codings it is 32 KiB.
func Windowed(h http.Header) bool {
	c, err := codingOf(h)
	return err == nil && c.windowed()
}

func (c coding) windowed() bool { return c == brotlied || c == zstded }

// openCoding lets the body read through its decompressor.
func (b *Body) openCoding(r *http.Request) (err error) {
	if b.coding == identity {
		b.open = &b.wire
		return nil
	}
	if b.coding.windowed() {
		return b.openWindowed(r.Context())
	}
	b.src = getSource(&b.wire)
	if b.coding == gzipped {
		b.open, b.done, err = openGzip(b.src)
	} else {
		b.open, b.done, err = openDeflate(b.src)
	}
	return err
}

// openWindowed first reads the beginning of the body and then takes the memory for
// the window that the body declares. So a slow sender does not hold that memory while
// it sends, and the memory is at most [ingest.MaxRatio] times what it has sent.
func (b *Body) openWindowed(ctx context.Context) error {
	whole, err := b.readBegin()
	if err != nil {
		return err
	}
	var window int64
	if b.coding == brotlied {
		window, err = brotliWindow(b.begin.B, whole)
	} else {
		window, err = zstdWindow(b.begin.B)
	}
	if err != nil {
		return err
	}
	if err := b.budget.acquire(ctx, b.seat, window); err != nil {
		return err
	}
	b.decoder = window
	b.packed = wireReader{r: bytes.NewReader(b.begin.B)}
	if !whole {
		b.packed.r = io.MultiReader(b.packed.r, &b.wire)
	}
	if b.coding == brotlied {
		b.open, b.done, err = openBrotli(&b.packed)
	} else {
		b.open, b.done, err = openZstd(&b.packed, window-blockSpace)
	}
	return err
}

// readBegin reads the first beginSize bytes of the body as sent. whole says
// that this is the whole body.
func (b *Body) readBegin() (whole bool, err error) {
	b.begin = GetBuffer()
	for len(b.begin.B) < beginSize {
		if err := b.Grow(b.begin, 1); err != nil {
			return false, err
		}
		n, err := b.wire.Read(b.begin.B[len(b.begin.B):cap(b.begin.B)])
		b.begin.B = b.begin.B[:len(b.begin.B)+n]
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

func openGzip(src *bufio.Reader) (io.Reader, func(bool), error) {
	z := gzipPool.Get().(*gzip.Reader)
	if err := z.Reset(src); err != nil {
		gzipPool.Put(z)
		return nil, nil, err
	}
	return z, func(bool) { gzipPool.Put(z) }, nil
}

// openDeflate opens zlib or raw deflate, by the first two bytes. RFC 9110 asks for
// zlib, but some clients send raw deflate.
func openDeflate(src *bufio.Reader) (io.Reader, func(bool), error) {
	pool, fresh := &flatePool, newFlate
	if head, err := src.Peek(2); err == nil && head[0]&15 == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0 {
		pool, fresh = &zlibPool, zlib.NewReader
	}
	z, _ := pool.Get().(io.ReadCloser)
	if z == nil {
		z, err := fresh(src)
		if err != nil {
			return nil, nil, err
		}
		return z, func(bool) { pool.Put(z) }, nil
	}
	if err := z.(flate.Resetter).Reset(src, nil); err != nil {
		pool.Put(z)
		return nil, nil, err
	}
	return z, func(bool) { pool.Put(z) }, nil
}

func newFlate(r io.Reader) (io.ReadCloser, error) { return flate.NewReader(r), nil }

func openBrotli(src io.Reader) (io.Reader, func(bool), error) {
	z := brotliPool.Get().(*brotli.Reader)
	if err := z.Reset(src); err != nil {
		return nil, nil, err
	}
	return z, func(keep bool) {
		if keep {
			brotliPool.Put(z)
		}
	}, nil
}

func openZstd(src io.Reader, window int64) (io.Reader, func(bool), error) {
	if window > pooledWindow {
		z, err := newZstd(uint64(window))
		if err != nil {
			return nil, nil, err
		}
		return z, func(bool) { z.Close() }, z.Reset(src)
	}
	z, _ := zstdPool.Get().(*zstd.Decoder)
	if z == nil {
		var err error
		if z, err = newZstd(pooledWindow); err != nil {
			return nil, nil, err
		}
	}
	if err := z.Reset(src); err != nil {
		return nil, nil, err
	}
	return z, func(bool) { _ = z.Reset(nil); zstdPool.Put(z) }, nil
}

// newZstd makes a decoder without goroutines, so that the garbage collector can free
// it when the pool drops it.
func newZstd(window uint64) (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(window), zstd.WithDecoderMaxMemory(window))
}

// zstdWindow is the memory for the window that the first frame declares. The decoder
// refuses a later frame with a larger one.
func zstdWindow(begin []byte) (int64, error) {
	var h zstd.Header
	if err := h.Decode(begin[:min(len(begin), zstd.HeaderMaxSize)]); err != nil {
		return 0, err
	}
	window := h.WindowSize
	if h.SingleSegment {
		window = h.FrameContentSize
	}
	if window > maxWindow {
		return 0, zstd.ErrWindowSizeExceeded
	}
	return int64(max(window, pooledWindow)) + blockSpace, nil
}

// brotliWindow is the window size in the stream header (RFC 7932, 9.1): 16 bits of
// window have the code "0", 18 to 24, 17, and 10 to 15 have longer ones.
//
// The decoder fills its window before it gives the first byte, so a bomb of 39 bytes
// would cost 16 MiB and 50 ms. If the whole body is there, the window in the header is
// made as small as the greatest possible output. This is possible because the codes
// of 18 to 24 have the same length, and a window that is not full has no effect.
func brotliWindow(begin []byte, whole bool) (int64, error) {
	if len(begin) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	head := begin[0]
	switch {
	case head&1 == 0:
		return 1 << 16, nil
	case head&0x0e == 0 && head&0x70 == 0:
		return 1 << 17, nil
	case head&0x0e == 0:
		return 1 << (8 + (head >> 4 & 7)), nil
	}
	size := 17 + head>>1&7
	if whole {
		most := max(ingest.RatioGrace, ingest.MaxRatio*len(begin))
		for size > 18 && 1<<(size-1) >= most+brotliGap {
			size--
		}
		begin[0] = head&^0x0e | (size-17)<<1
	}
	return 1 << size, nil
}

func isWindowTooLarge(err error) bool {
	return errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeTooSmall) ||
		errors.Is(err, zstd.ErrDecoderSizeExceeded)
}

var (
	flatePool, zlibPool, zstdPool sync.Pool

	gzipPool   = sync.Pool{New: func() any { return new(gzip.Reader) }}
	brotliPool = sync.Pool{New: func() any { return new(brotli.Reader) }}
	sourcePool = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, sourceSize) }}
)

func getSource(r io.Reader) *bufio.Reader {
	src := sourcePool.Get().(*bufio.Reader)
	src.Reset(r)
	return src
}

func putSource(src *bufio.Reader) {
	src.Reset(nil)
	sourcePool.Put(src)
}
