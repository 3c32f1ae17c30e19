package projector

import (
	"fmt"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/signature"
)

// BenchmarkFold folds blocks of 250 events of 1,000 problems, with and without a
// budget of new records, which shows what the budget costs.
func BenchmarkFold(b *testing.B) {
	var blocks []eventlog.Block
	payload := make([]byte, 1000)
	for n := range 40 {
		events := make([]errata.Event, 250)
		for i := range events {
			at := n*len(events) + i
			events[i] = errata.Event{
				ID: errata.NewEventID(1, fmt.Sprint(at)), Project: 1, Book: errata.BookSystem, Level: errata.LevelError,
				Signature: signature.Sign(signature.Identity{Project: uint64(at % 1000)}), Received: time.UnixMilli(1_795_231_120_683),
				Time: time.UnixMilli(1_795_231_120_683), File: "src/Payment/Gateway.php", Line: 42, Message: "could not charge order",
				Class: "PaymentError", URI: "/checkout?page=2", Method: "POST", UserID: int64(at), Payload: payload,
			}
		}
		blocks = append(blocks, decodedBlock(b, events))
	}
	for _, limit := range []uint64{0, 10_000} {
		b.Run(fmt.Sprint("limit=", limit), func(b *testing.B) {
			for range b.N {
				w, batch := newWindow(maxWindowIDs, 0), newBatch(rolledTo{})
				batch.budget.Limit = limit
				for i, block := range blocks {
					batch.fold(w, uint64(i+1), block, recording{})
				}
			}
			b.ReportMetric(float64(b.N)*10_000/b.Elapsed().Seconds(), "events/s")
		})
	}
}
