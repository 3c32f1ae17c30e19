package otlp

import (
	"crypto/sha256"
	encoding64 "encoding/binary"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
)

// SpanExceptions says how the exceptions of spans count. OpenTelemetry replaces
// them by log records, and some SDKs send an error as both.
type SpanExceptions string

// The choices.
const (
	// Dedupe, the default, counts an error once that comes as a span event and
	// as a log record.
	Dedupe SpanExceptions = "dedupe"
	// On counts both.
	On SpanExceptions = "on"
	// Off ignores the exceptions of spans.
	Off SpanExceptions = "off"
)

// ParseSpanExceptions reads a choice; "" is Dedupe.
func ParseSpanExceptions(text string) (SpanExceptions, error) {
	switch choice := SpanExceptions(text); choice {
	case "":
		return Dedupe, nil
	case Dedupe, On, Off:
		return choice, nil
	default:
		return "", fmt.Errorf("%q is none of dedupe, on, off", text)
	}
}

const (
	// pairWindow is the period in which both times of a pair must lie. SDKs stamp
	// them microseconds apart, so that almost no pair lies in two periods.
	pairWindow = 5 * time.Minute
	// pairMemory bounds the records of each of the two generations. A record
	// takes about 100 bytes.
	pairMemory = 1 << 15
)

// side is the signal that an error came in.
type side uint8

const (
	fromLog side = iota
	fromSpan
)

// twin holds what an error has in common with the same error in the other signal.
type twin struct {
	side                        side
	trace, span, class, message string
	time                        time.Time
}

// twinOf is nil for an error without a span: the other signal cannot have it.
func twinOf(d *ingest.Draft, from side) *twin {
	c := &d.Context
	if strings.Trim(c.TraceID, "0") == "" || strings.Trim(c.SpanID, "0") == "" || d.Class == "" && d.Message == "" {
		return nil
	}
	t := &twin{side: from, trace: c.TraceID, span: c.SpanID, message: d.Message, time: d.Time}
	// For a wrapped Go error the log SDK sends the class of the cause and the
	// trace SDK that of the wrapper, with the same text.
	if isGo := c.Platform == "go" || strings.HasPrefix(d.Class, "*"); !isGo || t.message == "" {
		t.class = bareClass(d.Class)
	}
	return t
}

// bareClass is a class without its module: Python's log SDK leaves it out, its
// trace SDK does not.
func bareClass(class string) string { return class[strings.LastIndexAny(class, `./\:`)+1:] }

// pairs gives a span event and a log record of the same error the same id, so
// that they count once. Of the log records and the exceptions of one span with
// the same class and text, the first log record is the same error as the first
// exception, the second as the second, and so on. The two can come in different
// requests, so pairs remembers these numbers. After a restart, and on another
// node, the numbers begin at the first again. It is safe for concurrent use.
type pairs struct {
	now   func() time.Time
	drops *prometheus.CounterVec

	mu            sync.Mutex
	began         time.Time
	recent, older generation
}

// generation holds the records of one period.
type generation struct {
	counts map[sided]uint32  // errors so far, by key and side
	places map[placed]uint32 // the number of each record
}

type sided struct {
	key  [16]byte
	side side
}

type placed struct{ key, record [16]byte }

func newGeneration() generation {
	return generation{counts: map[sided]uint32{}, places: map[placed]uint32{}}
}

// Why an exception of a span does not count as an error of its own.
const (
	dropPair = "pair"
	dropOff  = "off"
)

func newDrops(to prometheus.Registerer) (*prometheus.CounterVec, error) {
	return door.Register(to, prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "errata_otlp_dropped_total",
		Help: "Errors from OTLP that do not count: pair, since they came as span event and log record; off, since exceptions of spans are switched off.",
	}, []string{"reason"}))
}

func newPairs(now func() time.Time, drops *prometheus.CounterVec) *pairs {
	return &pairs{now: now, drops: drops, recent: newGeneration(), older: newGeneration()}
}

// id is the id of the error of a record; record is the record's own id.
func (p *pairs) id(project uint64, t *twin, record [16]byte) [16]byte {
	text := make([]byte, 0, 512)
	text = append(text, "errata otlp pair v1\x00"...)
	text = encoding64.AppendUvarint(text, project)
	if !t.time.IsZero() {
		text = encoding64.AppendVarint(text, t.time.UnixNano()/int64(pairWindow))
	}
	for _, part := range []string{t.trace, t.span, t.class, t.message} {
		text = encoding64.AppendUvarint(text, uint64(len(part)))
		text = append(text, part...)
	}
	sum := sha256.Sum256(text)
	key := [16]byte(sum[:16])
	n, second := p.place(placed{key, record}, t.side)
	if second {
		p.drops.WithLabelValues(dropPair).Inc()
	}
	sum = sha256.Sum256(encoding64.AppendUvarint(sum[:], uint64(n)))
	return [16]byte(sum[:16])
}

// place numbers the records of one side with the same key. A record that comes
// again has the same number. second says that the record is new, and that the
// record of the other side came before.
func (p *pairs) place(at placed, from side) (n uint32, second bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := p.now(); now.Sub(p.began) > pairWindow || len(p.recent.places) >= pairMemory {
		p.older, p.recent, p.began = p.recent, newGeneration(), now
	}
	if n, known := p.recent.places[at]; known {
		return n, false
	}
	n, known := p.older.places[at]
	if !known {
		n = p.count(sided{at.key, from})
		second = p.count(sided{at.key, 1 - from}) > n
	}
	p.recent.places[at] = n
	p.recent.counts[sided{at.key, from}] = max(n+1, p.count(sided{at.key, from}))
	return n, second
}

func (p *pairs) count(of sided) uint32 { return max(p.recent.counts[of], p.older.counts[of]) }
