package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// olderEvents is how many events the older copy has, and how many come after it.
const olderEvents = 2000

// runOlder starts services whose log, or whose records, come from an older copy
// than the rest, as after the restore of a backup.
func runOlder(ctx context.Context, g *gate, seed uint64) error {
	backup := filepath.Join(g.dir, "backup")
	t, err := g.newTemplate(ctx, "before-restore", seed, olderEvents, func(data string) error {
		return copyDir(data, backup)
	})
	if err != nil {
		return err
	}
	for i, part := range []string{"clickhouse", "nats"} {
		x, err := t.clone(g, "restored-"+part, seed+uint64(i))
		if err != nil {
			return err
		}
		restored := filepath.Join(x.service.data, part)
		if err := errors.Join(os.RemoveAll(restored), copyDir(filepath.Join(backup, part), restored)); err != nil {
			return err
		}
		name, check := "older records", x.olderRecords
		if part == "nats" {
			name, check = "older log", func(ctx context.Context, r *Result) { x.olderLog(ctx, r, t.failing) }
		}
		r := g.begin(name, x.seed)
		if err := x.service.start(); err != nil {
			return err
		}
		check(ctx, r)
		x.service.kill()
		g.report(r)
	}
	return nil
}

// olderRecords: the log has all that is missing, so an operator has nothing to
// do.
func (x *session) olderRecords(ctx context.Context, r *Result) {
	if err := x.service.awaitUp(ctx); err != nil {
		r.violate("%v", err)
		return
	}
	x.recovered(ctx, r, x.service.started, visibleLimit, visibleLimit)
	x.verify(ctx, r)
}

// olderLog: facts that are in the records and not on the log exist nowhere else.
// So the service must report it, keep them, and leave the choice to an operator.
func (x *session) olderLog(ctx context.Context, r *Result, usual map[string]check) {
	r.Noticed, r.NoticedMS = x.notice(ctx, x.service.started, usual)
	if r.Noticed == "" {
		r.violate("that the log is older than the records is not noticed within %v", x.gate.limit(noticeLimit))
	}
	if !x.service.running() {
		r.violate("the service ended: %s", x.service.lastWords())
		return
	}
	x.compare(ctx, r)
	if len(r.Violations) > 0 {
		return
	}
	if took, err := x.probe(ctx, x.service.started, x.gate.limit(noticeLimit)+damageVisible); err != nil {
		r.violate("%v", err)
	} else {
		r.RecoveryMS = took.Milliseconds()
	}
	x.accept(ctx, r, usual)
	if err := x.service.barrier(ctx, x.gate.limit(visibleLimit)); err != nil {
		r.violate("%v", err)
	}
	x.compare(ctx, r)
	r.Detail = fmt.Sprintf("the log lacks what came in since the copy, of %d events", r.Accepted)
}
