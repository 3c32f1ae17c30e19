package sentry

import (
	"github.com/go-faster/jx"

	"github.com/errata-log/errata/ingest/body/lenient"
)

// loss is a number of errors that an SDK dropped for one reason.
type loss struct {
	reason   string
	quantity int64
}

// reasons are the reasons that SDKs give; others count as "other".
var reasons = map[string]bool{
	"sample_rate": true, "before_send": true, "event_processor": true, "ignored": true, "invalid": true,
	"network_error": true, "send_error": true, "internal_sdk_error": true, "ratelimit_backoff": true,
	"queue_overflow": true, "cache_overflow": true, "buffer_overflow": true, "backpressure": true,
}

const (
	// maxLost bounds one quantity: a queue that drops more in a report's
	// minute does not exist, a forged report does.
	maxLost = 1_000_000
	// maxLosses bounds the entries of one report.
	maxLosses = 100
)

// addReport reads a client report: the errors lost at the sender. It is an
// extra, so a broken one is ignored and the envelope goes on.
func (in *intake) addReport(payload []byte) {
	d := jx.GetDecoder()
	defer jx.PutDecoder(d)
	d.ResetBytes(payload)
	var lost []loss
	err := lenient.Object(d, d, func(d *jx.Decoder, key []byte) error {
		if string(key) != "discarded_events" {
			return d.Skip()
		}
		return lenient.Array(d, d, func(d *jx.Decoder) error {
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
}

// readLoss reads one entry; its quantity is 0 when it is not about errors.
func readLoss(d *jx.Decoder) (l loss, err error) {
	var category string
	err = lenient.Object(d, d, func(d *jx.Decoder, key []byte) (err error) {
		switch string(key) {
		case "reason":
			l.reason, err = lenient.Text(d)
		case "category":
			category, err = lenient.Text(d)
		case "quantity":
			l.quantity, err = lenient.Int(d)
		default:
			err = d.Skip()
		}
		return err
	})
	if category != "error" && category != "default" || l.quantity > maxLost {
		l.quantity = 0
	}
	if !reasons[l.reason] {
		l.reason = "other"
	}
	return l, err
}
