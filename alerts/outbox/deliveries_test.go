package outbox

import (
	"testing"
	"time"
)

// TestAnOldStateComesLate: the goroutine that makes a delivery first writes it to the bucket and
// then notes it in the copy. Between the two the delivery may be sent and noted as sent.
func TestAnOldStateComesLate(t *testing.T) {
	made := time.Now()
	state := func(revision uint64, s State) stored {
		return stored{Delivery{ID: "msg_1", Channel: "c", Made: made, State: s}, revision}
	}
	o := &Outbox{deliveries: deliveries{waiting: map[string]stored{}}}
	d, key := &o.deliveries, keyOf("msg_1", "c")
	for _, next := range []struct {
		of      stored
		waiting float64
		shown   State
	}{
		{state(2, Waiting), 1, Waiting},
		{state(3, Sent), 0, Sent},
		{state(1, Waiting), 0, Sent},
		{state(2, Waiting), 0, Sent},
		{state(3, Sent), 0, Sent},
	} {
		d.note(key, next.of)
		list := o.List()
		if got := d.count(); got != next.waiting || len(list) != 1 || list[0].State != next.shown {
			t.Errorf("after revision %d, %s: %v are waiting, and the list has %+v", next.of.revision, next.of.State, got, list)
		}
		if due := d.due(made); len(due) != int(next.waiting) {
			t.Errorf("after revision %d, %s: %d are due", next.of.revision, next.of.State, len(due))
		}
	}
}
