package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
)

// runRepair restores the lost facts of a damaged log from a copy, as the
// documents say: with two commands of an operator.
func runRepair(ctx context.Context, g *gate, seed uint64) error {
	t, err := g.newTemplate(ctx, "before-repair", seed, olderEvents, nil)
	if err != nil {
		return err
	}
	for i := range g.rounds(1, 10) {
		r := g.begin("log repaired from a copy", seed+uint64(i))
		if err := g.repair(ctx, r, t, fmt.Sprintf("repair-%d", i)); err != nil {
			r.violate("%v", err)
		}
		g.report(r)
	}
	return nil
}

func (g *gate) repair(ctx context.Context, r *Result, t *template, name string) error {
	x, err := t.clone(g, name, r.Seed)
	if err != nil {
		return err
	}
	defer x.service.kill()
	files, err := inStream("LOG", "msgs/*.blk")(x.service.data)
	if err != nil || len(files) == 0 {
		return errors.Join(errors.New("the log has no block"), err)
	}
	if r.Detail, err = flipBit(files[x.random.IntN(len(files))], x.random); err != nil {
		return err
	}
	r.Hands = append(r.Hands, "errata log repair --from COPY", "errata replay")
	if _, err := x.service.run(ctx, "log", "repair", "--from", filepath.Join(t.data, "nats")); err != nil {
		return err
	}
	if err := x.service.start(); err != nil {
		return err
	}
	x.recovered(ctx, r, x.service.started, damageVisible, damageVisible)
	for _, command := range [][]string{{"replay"}, {"log", "verify"}} {
		if _, err := x.service.run(ctx, command...); err != nil {
			return err
		}
	}
	x.verify(ctx, r)
	x.green(ctx, r, t.failing)
	return nil
}
