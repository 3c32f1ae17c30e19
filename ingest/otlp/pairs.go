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

// SpanExceptions says what becomes of the exceptions that spans recorded. SDKs
// move from those to log records, and on the way some send an error as both.
type SpanExceptions string

// The choices.
const (
	// Dedupe counts an error once that comes as a span event and as a log
	// record. It is the default.
	Dedupe SpanExceptions = "dedupe"
	// On counts both.
	On SpanExceptions = "on"
	// Off passes over the exceptions of spans.
	Off SpanExceptions = "off"
)

// ParseSpanExceptions reads a choice; "" is the default.
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
	// pairWindow is the stretch of time in which the two must have happened.
	// SDKs stamp them microseconds apart, so that hardly a pair is cut by its end.
	pairWindow = 5 * time.Minute
	// pairMemory bounds the errors that are remembered to number them, about
	// 100 bytes each, in each of two generations.
	pairMemory = 1 << 15
)

// side is the signal that an error came in.
type side uint8

const (
	fromLog side = iota
	fromSpan
)

// twin is what an error that came in one signal has in common with the same
// error in the other.
type twin struct {
	side                        side
	trace, span, class, message string
	time                        time.Time
}

// twinOf is nil for an error of no span, which cannot have come in the other.
func twinOf(d *ingest.Draft, from side) *twin {
	c := &d.Context
	if strings.Trim(c.TraceID, "0") == "" || strings.Trim(c.SpanID, "0") == "" || d.Class == "" && d.Message == "" {
		return nil
	}
	t := &twin{side: from, trace: c.TraceID, span: c.SpanID, message: d.Message, time: d.Time}
	// Of a wrapped Go error the log SDK names the cause and the trace SDK the
	// wrapper; the text is the same.
	if isGo := c.Platform == "go" || strings.HasPrefix(d.Class, "*"); !isGo || t.message == "" {
		t.class = bareClass(d.Class)
	}
	return t
}

// bareClass is a class without its module: the log SDK of Python leaves that
// out, its trace SDK does not.
func bareClass(class string) string { return class[strings.LastIndexAny(class, `./\:`)+1:] }

// pairs gives a span event and a log record of the same error the same id, so
// that they count once however they come: the first log record of a span with
// one class and text is the same error as the first exception of that span with
// them, the second is the second, and so on. Which is the first has to be
// remembered beyond a request, since exporters cut their batches anywhere; a
// service that has forgotten, or another node, takes for the first what may be
// the second. It is safe for concurrent use.
type pairs struct {
	now   func() time.Time
	drops *prometheus.CounterVec

	mu            sync.Mutex
	began         time.Time
	recent, older generation
}

// generation is what came in one stretch of time.
type generation struct {
	counts map[sided]uint32  // errors so far, by what they have in common
	places map[placed]uint32 // which of them a record is
}

type sided struct {
	key  [16]byte
	side side
}

type placed struct{ key, record [16]byte }

func newGeneration() generation {
	return generation{counts: map[sided]uint32{}, places: map[placed]uint32{}}
}

// Reasons under which exceptions of spans are counted that do not count as
// errors of their own.
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

// id is the id of the error that a record tells of; record is the record's own.
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

// place numbers the records of one side that have a key in common; one that
// comes again has the number it had. second says that it is new and that the
// other side's came before.
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
