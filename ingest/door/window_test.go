package door_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/andybalholm/brotli"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
)

func brotliOf(t testing.TB, window int, parts ...[]byte) []byte {
	t.Helper()
	return pack(t, func(w io.Writer) (io.WriteCloser, error) {
		return brotli.NewWriterOptions(w, brotli.WriterOptions{Quality: 5, LGWin: window}), nil
	}, bytes.Join(parts, nil))
}

// halting is a reader that returns its text and then waits.
type halting struct {
	text  io.Reader
	asked chan struct{} // closed when a read comes after the text
	goOn  chan struct{}
	ended bool
}

func (h *halting) Read(p []byte) (int, error) {
	n, err := h.text.Read(p)
	if err != io.EOF || h.ended {
		return n, err
	}
	h.ended = true
	close(h.asked)
	<-h.goOn
	return 0, io.ErrUnexpectedEOF
}

// A declared window takes no memory until there are bytes to decompress.
func TestWindowsAreNotTakenInAdvance(t *testing.T) {
	large := make([]byte, 100<<10)
	random := rand.New(rand.NewPCG(5, 6))
	for i := range large {
		large[i] = byte(random.Uint32())
	}
	for name, c := range map[string]struct {
		coding string
		text   []byte
		most   int64
	}{
		"brotli, one byte":     {"br", []byte{0x0f}, 64 << 10},
		"brotli, a beginning":  {"br", brotliOf(t, 24, large)[:90<<10], 64<<10 + 64<<10 + 128<<10},
		"zstd, a header":       {"zstd", []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x68}, 64 << 10},
		"zstd, one segment":    {"zstd", []byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0x80, 0}, 64 << 10},
		"zstd, a first block":  {"zstd", []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x68, 0x0a, 0, 0, ' '}, 64 << 10},
		"gzip, a header":       {"gzip", []byte{0x1f, 0x8b, 8, 0}, 64 << 10},
		"nothing that is said": {"", []byte("{"), 64 << 10},
	} {
		budget := door.NewBudget(0)
		wire := &halting{text: bytes.NewReader(c.text), asked: make(chan struct{}), goOn: make(chan struct{})}
		ended := make(chan error, 1)
		go func() {
			_, err := open(request(wire, c.coding), door.Options{Budget: budget, Sender: known})
			ended <- err
		}()
		<-wire.asked
		if held := budget.InUse(); held > c.most {
			t.Errorf("%s: holds %d bytes while it waits, want at most %d", name, held, c.most)
		}
		close(wire.goOn)
		if err := <-ended; errata.KindOf(err) != errata.KindInvalidBody {
			t.Errorf("%s: %v", name, err)
		}
		if budget.InUse() != 0 {
			t.Errorf("%s: %d bytes are held after the end", name, budget.InUse())
		}
	}
}

func TestSmallBombsTakeSmallWindows(t *testing.T) {
	packed := brotliOf(t, 24, bytes.Repeat([]byte{' '}, 32<<20))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := open(request(bytes.NewReader(packed), "br"), door.Options{Budget: door.NewBudget(0), Sender: known})
	runtime.ReadMemStats(&after)
	if errata.KindOf(err) != errata.KindBodyTooLarge || len(got) > 2*ingest.RatioGrace {
		t.Errorf("%d bytes came out, %v", len(got), err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 2<<20 {
		t.Errorf("%d bytes on the wire allocated %d KiB", len(packed), took>>10)
	}
}

// A window smaller than the declared one gives the same bytes, for every body within
// the ratio.
func TestSmallerWindowsChangeNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return b
	}
	text := []byte("the quick brown fox jumps over the lazy dog, and was never seen again. ") // of brotli's dictionary
	for _, window := range []int{10, 16, 17, 18, 19, 21, 24} {
		for name, content := range map[string][]byte{
			"one byte":               {'x'},
			"a repeated block":       bytes.Repeat(noise(3000), 60),
			"far back":               bytes.Join([][]byte{noise(20 << 10), bytes.Repeat([]byte{'x'}, 500<<10), noise(100), bytes.Repeat(text, 300)}, nil),
			"the first part again":   func() []byte { n := noise(300 << 10); return append(n, n...) }(),
			"just below the ratio":   append(noise(1000), bytes.Repeat([]byte{' '}, 90_000)...),
			"words, close to 1 MiB":  append(noise(12<<10), bytes.Repeat(text, 14_000)...),
			"larger than was waited": noise(700 << 10),
		} {
			packed := brotliOf(t, window, content)
			if len(content) > ingest.RatioGrace && len(content) > ingest.MaxRatio*len(packed) {
				t.Fatalf("%s: %d:%d is over the ratio", name, len(content), len(packed))
			}
			b, err := door.Open(httptest.NewRecorder(), request(bytes.NewReader(packed), "br"), door.Options{Budget: door.NewBudget(0), Sender: known})
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(b)
			if err != nil || !bytes.Equal(got, content) {
				t.Errorf("%s, window of %d bits, %d bytes packed: %d bytes of %d, %v", name, window, len(packed), len(got), len(content), err)
			}
			b.Close()
		}
	}
}
