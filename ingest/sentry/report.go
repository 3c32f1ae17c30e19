package sentry

import (
	"maps"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/lenient"
)

// losses count the errors that SDKs say they did not send, by reason: those that were
// lost, and apart from them those that were left out on purpose. The set of reasons is
// fixed, so that a sender cannot fill the metrics.
type losses struct {
	lost, leftOut *prometheus.CounterVec
	mu            sync.Mutex
	totals        map[string]uint64 // of those that were lost
}

// register makes the counters and registers them, if there is a registerer.
func (l *losses) register(to prometheus.Registerer) (err error) {
	l.totals = map[string]uint64{}
	l.lost, err = door.Register(to, prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "errata_client_lost_total",
		Help: "Errors that Sentry SDKs say they lost before sending, by their reason.",
	}, []string{"reason"}))
	if err != nil {
		return err
	}
	l.leftOut, err = door.Register(to, prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "errata_client_left_out_total",
		Help: "Errors that Sentry SDKs say they left out on purpose, such as duplicates and samples, by their reason.",
	}, []string{"reason"}))
	return err
}

// count adds the losses that one request reported.
func (l *losses) count(lost []loss) {
	if len(lost) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range lost {
		if reasons[one.reason] == onPurpose {
			l.leftOut.WithLabelValues(one.reason).Add(float64(one.quantity))
			continue
		}
		l.lost.WithLabelValues(one.reason).Add(float64(one.quantity))
		l.totals[one.reason] += uint64(one.quantity) // never negative, see readLoss
	}
}

// Lost is how many errors SDKs say they lost before sending since the service
// started, by reason: send_error, ratelimit_backoff, queue_overflow, … or other.
// A reason that no SDK gave is absent. Some SDKs do not report, so the real
// number can be higher. The map is a copy.
func (h *Handler) Lost() map[string]uint64 {
	h.lost.mu.Lock()
	defer h.lost.mu.Unlock()
	return maps.Clone(h.lost.totals)
}

// loss is a number of errors that an SDK did not send for one reason.
type loss struct {
	reason   string
	quantity int64
}

// purpose says whether an SDK meant to send the error that it did not send.
type purpose uint8

const (
	failed purpose = iota + 1
	// onPurpose is an error that the application or its SDK decides not to send. SDKs drop
	// the second event of one exception as "event_processor": it is counted already.
	onPurpose
)

// reasons are the reasons that SDKs give; others count as "other".
var reasons = map[string]purpose{
	"sample_rate": onPurpose, "before_send": onPurpose, "event_processor": onPurpose, "ignored": onPurpose,
	"invalid": failed, "network_error": failed, "send_error": failed, "internal_sdk_error": failed, "ratelimit_backoff": failed,
	"queue_overflow": failed, "cache_overflow": failed, "buffer_overflow": failed, "backpressure": failed,
}

const (
	// maxLost bounds one quantity. No real queue drops more in the minute that
	// a report covers; a forged report says so.
	maxLost = 1_000_000
	// maxLosses bounds the entries of one report.
	maxLosses = 100
)

// addReport reads a client report: the errors that the sender did not send. Reports are
// optional, so a broken one is ignored and returns no error.
func (in *intake) addReport(payload []byte) error {
	d := &in.head
	d.Reset(payload)
	var lost []loss
	err := lenient.Object(d, d, func(d *lenient.Reader, key []byte) error {
		if string(key) != "discarded_events" {
			return d.Skip()
		}
		return lenient.Array(d, d, func(d *lenient.Reader) error {
			l, err := readLoss(d)
			if err == nil && l.quantity > 0 && len(lost) < maxLosses {
				lost = append(lost, l)
			}
			return err
		})
	})
	if err == nil {
		in.lost = append(in.lost, lost...)
	}
	return nil
}

// readLoss reads one entry. Its quantity is 0 when it is not about errors.
func readLoss(d *lenient.Reader) (l loss, err error) {
	var category string
	err = lenient.Object(d, d, func(d *lenient.Reader, key []byte) (err error) {
		switch string(key) {
		case "reason":
			l.reason, err = d.Text()
		case "category":
			category, err = d.Text()
		case "quantity":
			l.quantity, err = d.Int()
		default:
			err = d.Skip()
		}
		return err
	})
	if category != "error" && category != "default" || l.quantity > maxLost {
		l.quantity = 0
	}
	if reasons[l.reason] == 0 {
		l.reason = "other"
	}
	return l, err
}
