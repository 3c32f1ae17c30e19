package natsin

import (
	"context"
	"fmt"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/ingest"
)

// take puts the events of the messages on the log. A refused message becomes a dead
// letter before the mark on the log passes its place in the queue.
func (r *Receiver) take(ctx context.Context, d *eventlog.Drain, queued []eventlog.Queued) error {
	r.since.Store(queued[0].Stored.UnixNano())
	var drafts []ingest.Draft
	var from []*message // of each draft
	for i := range queued {
		q := &queued[i]
		m := &message{
			subject: strings.TrimPrefix(q.Subject, r.cfg.Queues.Prefix), data: q.Data,
			header: q.Header.Get, sequence: q.Sequence, stamp: q.Stored.UnixNano(),
		}
		draft, refused := r.draft(m, d.Epoch())
		if refused != nil {
			if err := r.refuse(ctx, d, m, refused); err != nil {
				return err
			}
			continue
		}
		drafts, from = append(drafts, draft), append(from, m)
	}
	if len(drafts) > 0 {
		if err := r.accept(ctx, d, drafts, from); err != nil {
			return err
		}
	}
	r.since.Store(0)
	return nil
}

// draft reads the event of the message. The error is the reason to refuse it.
func (r *Receiver) draft(m *message, epoch int64) (ingest.Draft, *errata.Error) {
	if refused := r.cfg.Archived.Refusal(r.cfg.Project); refused != nil {
		return ingest.Draft{}, refused
	}
	return m.draft(epoch)
}

func (r *Receiver) refuse(ctx context.Context, d *eventlog.Drain, m *message, refused *errata.Error) error {
	if err := r.letters.put(ctx, m, d.Epoch(), refused); err != nil {
		return err
	}
	r.metrics.dead.WithLabelValues(string(refused.Kind)).Inc()
	return nil
}

// accept takes the drafts through the pipeline onto the log.
func (r *Receiver) accept(ctx context.Context, d *eventlog.Drain, drafts []ingest.Draft, from []*message) error {
	grant := access.Grant{Project: r.cfg.Project, KeyID: sourceName}
	if err := r.cfg.Quotas.Wait(ctx, grant); err != nil {
		return fmt.Errorf("wait for the quota of events from NATS: %w", err)
	}
	r.cfg.Quotas.Charge(grant, len(drafts))
	src := ingest.Source{Project: grant.Project, KeyID: grant.KeyID, Received: r.cfg.Now()}
	_, err := r.cfg.Accepter.AcceptTo(ctx, src, drafts, func(ctx context.Context, events []errata.Event, of []int, rejected []ingest.Rejection) error {
		for _, rejection := range rejected {
			if err := r.refuse(ctx, d, from[rejection.Index], rejection.Err); err != nil {
				return err
			}
		}
		return r.store(ctx, d, events, of, from)
	})
	return err
}

// store appends the events in as few blocks as possible. Each block has the place of
// its last event in the queue.
func (r *Receiver) store(ctx context.Context, d *eventlog.Drain, events []errata.Event, of []int, from []*message) error {
	var block eventlog.ImportBlock
	var last uint64
	for i := range events {
		m := from[of[i]]
		if err := block.Add(&events[i]); err != nil {
			refused := errata.Errorf(errata.KindBodyTooLarge, "the event is larger than the log takes").Because(err)
			if err := r.refuse(ctx, d, m, refused); err != nil {
				return err
			}
		} else {
			last = m.sequence
		}
		if block.Full() {
			if err := d.Append(ctx, block.Seal(), last); err != nil {
				return err
			}
		}
	}
	if block.Len() == 0 {
		return nil
	}
	return d.Append(ctx, block.Seal(), last)
}
