//go:build linux

package engine_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// TestGivenUpQueriesDoNotEndTheEngine: cancelling a query closes its connection while an
// answer is on its way. That must not end the embedded engine. (With connections that
// were reset it ended four times in 9,000 queries.)
func TestGivenUpQueriesDoNotEndTheEngine(t *testing.T) {
	e := start(t, config(t, t.TempDir()))
	before, _ := e.EmbeddedClickHouse()
	var asking sync.WaitGroup
	for g := range 6 {
		asking.Go(func() {
			random := rand.New(rand.NewPCG(uint64(g), 1))
			for i := range 1000 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(4000))*time.Microsecond)
				query := "SELECT count() FROM system.one"
				if i%3 == 0 {
					query = "SELECT sum(number) FROM numbers(3000000)"
				}
				var n uint64
				_ = e.ClickHouse().QueryRow(ctx, query).Scan(&n) // given up or not
				cancel()
			}
		})
	}
	asking.Wait()
	if after, _ := e.EmbeddedClickHouse(); after != before {
		t.Errorf("process %d was replaced by %d", before, after)
	}
}
