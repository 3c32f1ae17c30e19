package outbox

import (
	"context"
	"errors"
)

// Look makes and sends what is due, once; Follow keeps the copy of the deliveries.
func (o *Outbox) Look(ctx context.Context) error {
	err := errors.Join(o.makeMessages(ctx), o.sendDue(ctx))
	o.senders.running.Wait()
	return errors.Join(err, o.senders.failures())
}

// Follow keeps this node's copy of the deliveries until ctx ends.
func (o *Outbox) Follow(ctx context.Context) { o.follow(ctx) }

// Waiting is how many deliveries this node knows that are not sent.
func (o *Outbox) Waiting() int {
	o.deliveries.mu.Lock()
	defer o.deliveries.mu.Unlock()
	return len(o.deliveries.waiting)
}
