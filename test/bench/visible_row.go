package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	visibleSpan  = 20 * time.Second
	visibleProbe = 100 * time.Millisecond
	visiblePoll  = 5 * time.Millisecond
)

// visible measures how long an accepted event takes until the list shows it,
// while others come in at half the highest rate.
func (b *bench) visible() error {
	req := newRequest("POST", "/api/v1/events", b.nativeHeader(), nativeEvent(7), 1)
	if b.peak == 0 {
		r, err := load(b.addr, req, 64, b.span)
		if err != nil {
			return err
		}
		b.peak = r.perSecond()
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- b.steady(ctx, req, b.peak/2) }() // ends with ctx
	latency := newHistogram()
	tick := time.NewTicker(visibleProbe)
	defer tick.Stop()
	for end := time.Now().Add(visibleSpan); time.Now().Before(end); {
		<-tick.C
		took, err := b.probe(ctx)
		if err != nil {
			return err
		}
		if err := latency.RecordValue(took.Microseconds()); err != nil {
			return err
		}
	}
	cancel()
	if err := <-ended; err != nil {
		return err
	}
	row{name: "visible, at half the rate", ours: float64(latency.ValueAtQuantile(99)) / 1000, ceiling: 1000, unit: "ms p99",
		note: fmt.Sprintf("p50 %.0f ms, %d probes, %.0f events/s beside them; at most 1000", float64(latency.ValueAtQuantile(50))/1000, latency.TotalCount(), b.peak/2)}.write(b.out)
	return nil
}

// steady sends single events at a fixed rate until ctx ends: bursts of 10 ms.
func (b *bench) steady(ctx context.Context, req request, perSecond float64) error {
	const conns = 16
	each := time.Duration(float64(conns) / perSecond * float64(time.Second))
	ended := make(chan error, conns)
	for range conns {
		go func() { ended <- paced(ctx, b.addr, req, each) }() // ends with ctx
	}
	var first error
	for range conns {
		if err := <-ended; err != nil && first == nil {
			first = err
		}
	}
	return first
}

// probe sends an event of a problem of its own and lists until it is there.
func (b *bench) probe(ctx context.Context) (time.Duration, error) {
	class := fmt.Sprintf("Probe%s", letters(number.Add(1)))
	body := strings.NewReplacer("Payment\\\\GatewayErrorAh", class, placeholder, class).Replace(nativeEvent(7))
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+b.addr+"/api/v1/events", strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	post.Header.Set("Authorization", "Bearer "+b.ingestKey)
	resp, err := http.DefaultClient.Do(post)
	if err != nil {
		return 0, err
	}
	resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return 0, fmt.Errorf("probe was answered %s", resp.Status)
	}
	accepted := time.Now()
	poll := time.NewTicker(visiblePoll)
	defer poll.Stop()
	for {
		n, err := b.total(ctx, class)
		if err != nil {
			return 0, err
		}
		if n > 0 {
			return time.Since(accepted), nil
		}
		<-poll.C
	}
}

// total is how many records the list finds of the class.
func (b *bench) total(ctx context.Context, class string) (int, error) {
	get, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.addr+"/api/v1/admin/tools/logs/errors?limit=1&exception_class="+class, nil)
	if err != nil {
		return 0, err
	}
	get.Header.Set("Authorization", "Bearer "+b.adminKey)
	resp, err := http.DefaultClient.Do(get)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var answer struct {
		Meta struct {
			Total int `json:"total"`
		} `json:"meta"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return 0, fmt.Errorf("list answered %s: %w", resp.Status, err)
	}
	return answer.Meta.Total, nil
}

// letters writes a number without digits, which would be folded together.
func letters(n uint64) string {
	var b strings.Builder
	for ; n > 0; n /= 26 {
		b.WriteByte(byte('a' + n%26))
	}
	return b.String()
}
