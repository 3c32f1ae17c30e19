package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/internal/load"
	"github.com/errata-log/errata/internal/proc"
)

const (
	// The second project sends at a low rate, and its reader asks for the list.
	eventInterval = 50 * time.Millisecond
	listInterval  = 150 * time.Millisecond
	// neighbourRecords is what the second project has before: half of the budget of
	// an hour, so that it may make more.
	neighbourRecords = 5000
)

// neighbour is the second project: its own ingest key, and an admin key that sees
// nothing else.
type neighbour struct {
	b        *bench
	project  uint64
	event    load.Request
	adminKey string
	taken    int64 // events that were answered 2xx
}

// times are how long the answers to the second project took since they were due,
// and what the processors did meanwhile.
type times struct {
	ingest, lists *hdrhistogram.Histogram
	load          processorLoad
}

// neighbourly is what the second project does.
var neighbourly = []struct {
	name string
	of   func(times) *hdrhistogram.Histogram
}{
	{"another's events", func(t times) *hdrhistogram.Histogram { return t.ingest }},
	{"another's lists", func(t times) *hdrhistogram.Histogram { return t.lists }},
}

// newNeighbour makes the second project and gives it records.
func (b *bench) newNeighbour(ctx context.Context) (*neighbour, error) {
	var made struct {
		Data struct {
			ID  uint64 `json:"id"`
			Key string `json:"key"`
		} `json:"data"`
	}
	if err := b.admin(ctx, http.MethodPost, "/api/v1/admin/projects", map[string]string{"name": "Second"}, &made); err != nil {
		return nil, err
	}
	n := &neighbour{b: b, project: made.Data.ID}
	header := [][2]string{{"Authorization", "Bearer " + made.Data.Key}, {"Content-Type", "application/json"}}
	n.event = load.NewRequest(http.MethodPost, "/api/v1/events", header, nativeEvent(7), 1)
	var err error
	n.adminKey, err = b.newKey(ctx, map[string]any{"name": "second", "kind": "adm", "scopes": []string{"Tools/*"}, "projects": []uint64{n.project}})
	if err != nil {
		return nil, err
	}
	const batch = 500
	problem := strings.Replace(nativeEvent(7), `"level"`, `"fingerprint":["`+load.Number+`"],"level"`, 1)
	c, err := load.Dial(ctx, b.addr, load.NewRequest(http.MethodPost, "/api/v1/events", header, strings.Repeat(problem+"\n", batch), batch))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for ; n.taken < neighbourRecords; n.taken += batch {
		c.Fill()
		if err := c.Succeed(); err != nil {
			return nil, err
		}
	}
	return n, b.caughtUp(ctx)
}

// during measures the second project until work returns.
func (n *neighbour) during(work func() error) (t times, err error) {
	t = times{ingest: load.NewHistogram(), lists: load.NewHistogram()}
	before, err := proc.ReadProcessors()
	if err != nil {
		return t, err
	}
	began, own := time.Now(), doortest.CPU()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	sending, listing := make(chan error, 1), make(chan error, 1)
	go func() { // ends with ctx
		sending <- load.Paced(ctx, n.b.addr, n.event, began, eventInterval, func(due time.Time) {
			n.taken++
			record(t.ingest, due)
		})
	}()
	go func() { // ends with ctx
		listing <- load.OnTime(ctx, began, listInterval, n.list, func(due time.Time) { record(t.lists, due) })
	}()
	err = work()
	cancel()
	if err = errors.Join(err, <-sending, <-listing); err != nil {
		return t, err
	}
	after, err := proc.ReadProcessors()
	t.load = processorLoad{
		busy: after.BusySince(before), stolen: after.StolenSince(before),
		own: (doortest.CPU() - own).Seconds() / time.Since(began).Seconds() / float64(runtime.NumCPU()),
	}
	return t, err
}

// record keeps the time since the answer was due, which is at most a minute, the
// maximum of the histogram.
func record(into *hdrhistogram.Histogram, due time.Time) {
	_ = into.RecordValue(min(max(1, time.Since(due).Microseconds()), into.HighestTrackableValue()))
}

// list asks for the first page, with the key that is limited to the project.
func (n *neighbour) list() error {
	var page struct {
		Data []json.RawMessage `json:"data"`
	}
	err := n.b.call(context.Background(), n.adminKey, http.MethodGet, errorsPath, nil, &page)
	if err == nil && len(page.Data) == 0 {
		err = errors.New("the second project's list is empty")
	}
	return err
}

// processorLoad is what the processors did in a time, as shares of all of it.
type processorLoad struct{ busy, own, stolen float64 }

func (l processorLoad) String() string {
	return fmt.Sprintf("processors busy %.0f %%, with service and generator %.0f %%; stolen of what was wanted %.0f %%",
		100*l.busy, 100*l.own, 100*l.stolen)
}
