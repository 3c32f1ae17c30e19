package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/errata-log/errata/test/gate/referee"
)

// verify ends the load, sends events in doubt until they are accepted, and
// compares every record with what the clients know.
func (x *session) verify(ctx context.Context, r *Result) {
	x.stop()
	if x.abandoned.Load() {
		r.violate("what the clients had under way was not accepted within %v", x.gate.limit(finishLimit))
	} else if err := x.settle(ctx); err != nil {
		r.violate("%v", err)
	}
	if err := x.service.barrier(ctx, x.gate.limit(visibleLimit)); err != nil {
		r.violate("%v", err)
	}
	x.compare(ctx, r)
}

// compare compares what the service shows now with what the clients know.
func (x *session) compare(ctx context.Context, r *Result) {
	r.Accepted, r.Resends = x.ledger.Accepted()
	records, err := x.service.list(ctx)
	if err != nil {
		r.violate("%v", err)
		return
	}
	records, v := x.takeProbes(records)
	v.Add(x.ledger.Check(records))
	if !x.abandoned.Load() { // requests of an owner without an answer are not known then
		v.Add(referee.CheckOwned(x.owner.problems, records))
	}
	v.Add(x.checkDetails(ctx, records, r))
	r.Verdict = v
	if !v.OK() {
		r.violate("records differ: %s", strings.Join(v.Lines, "; "))
	}
}

// takeProbes compares the records of probes and returns the others.
func (x *session) takeProbes(records []referee.Record) (others []referee.Record, v referee.Verdict) {
	counts := map[string]int{}
	for _, r := range records {
		if strings.HasPrefix(r.Class, probeClass) {
			counts[r.Class] += r.Count
		} else {
			others = append(others, r)
		}
	}
	for class, accepted := range x.probes {
		switch got := counts[class]; {
		case got < accepted:
			v.Lost++
			v.Lines = append(v.Lines, class+": the probe is not there")
		case got > 1:
			v.Twice += got - 1
			v.Lines = append(v.Lines, fmt.Sprintf("%s: the probe is counted %d times", class, got))
		}
	}
	return others, v
}

// checkDetails reads some records with their payload and their hours.
func (x *session) checkDetails(ctx context.Context, records []referee.Record, r *Result) (v referee.Verdict) {
	for range min(details, len(records)) {
		listed := records[x.random.IntN(len(records))]
		record, err := x.service.detail(ctx, listed.Signature)
		if err != nil {
			r.violate("detail of %s: %v", listed.Class, err)
			return v
		}
		total, err := x.service.trend(ctx, listed.Signature)
		if err != nil {
			r.violate("trend of %s: %v", listed.Class, err)
			return v
		}
		if total != record.Count {
			v.Wrong++
			v.Lines = append(v.Lines, fmt.Sprintf("%s: its hours have %d sightings, the record %d", record.Class, total, record.Count))
		}
		if !referee.IsOwned(record.Class) {
			v.Add(x.ledger.CheckDetail(record))
			continue
		}
		for _, o := range x.owner.problems {
			if o.Class == record.Class && o.Count > 0 && record.Payload.EventID != o.FirstID {
				v.Wrong++
				v.Lines = append(v.Lines, fmt.Sprintf("%s: the payload is of %q, want %q, the first since the delete", o.Class, record.Payload.EventID, o.FirstID))
			}
		}
	}
	return v
}

// recovered measures how long after since a new event is visible and every kind
// of list answers, both at the same time, and compares them with their limits.
func (x *session) recovered(ctx context.Context, r *Result, since time.Time, visible, lists time.Duration) {
	var err error
	listed := make(chan struct{})
	go func() {
		defer close(listed)
		err = x.listsAnswer(ctx, since, x.gate.limit(lists))
		r.ListsMS = time.Since(since).Milliseconds()
	}()
	took, probeErr := x.probe(ctx, since, max(x.gate.limit(visible), readyLimit))
	r.RecoveryMS = took.Milliseconds()
	if probeErr != nil {
		r.violate("%v", probeErr)
	} else if took > x.gate.limit(visible) {
		r.violate("a new event was visible after %v, want %v", took.Round(time.Millisecond), x.gate.limit(visible))
	}
	if <-listed; err != nil {
		r.violate("%v", err)
	}
}

// listsAnswer asks for one kind of list after another until each has answered once. Kinds
// that come late in the row have waited for the others: that is in the time too.
func (x *session) listsAnswer(ctx context.Context, since time.Time, limit time.Duration) error {
	for _, query := range views {
		var last error
		err := x.service.poll(ctx, max(limit-time.Since(since), 0)+listPatience, func(ctx context.Context) bool {
			err := x.service.view(ctx, query)
			if ctx.Err() == nil {
				last = err
			}
			if err != nil {
				pause(ctx, viewsPause)
			}
			return err == nil
		})
		if err != nil {
			return fmt.Errorf("list%s does not answer %v after the start: %w", query, time.Since(since).Round(time.Millisecond), cmp.Or(last, err))
		}
	}
	if took := time.Since(since); took > limit {
		return fmt.Errorf("lists answered after %v, want %v", took.Round(time.Millisecond), limit)
	}
	return nil
}

// listPatience is how long the gate waits for a list after the limit: then the report can say
// how late it was.
const listPatience = 5 * time.Second

// reportReplay makes the records again from the log: they must be the same.
func (x *session) reportReplay(ctx context.Context) {
	r := x.gate.begin("replay after it all", x.seed)
	defer x.gate.report(r)
	ctx, cancel := context.WithTimeout(ctx, replayLimit)
	defer cancel()
	text, err := x.service.request(ctx, "POST", "/api/v1/admin/ops/replay", "")
	switch {
	case err != nil:
		r.violate("replay: %v", err)
	case !strings.Contains(string(text), `"swapped":true`):
		r.violate("replay: %.400s", text)
	}
	x.compare(ctx, r)
}

// viewsPause is before a list that does not answer is asked for again: each
// failure is a line in the service's log.
const viewsPause = 300 * time.Millisecond

const replayLimit = 10 * time.Minute
