//go:build linux

package crash

import (
	"context"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"sync"
	"time"
)

// causePause is between two new problems that a rule is about.
const causePause = time.Second

// listen makes the listener to which the nodes may send messages. It comes before their start.
func (c *cluster) listen(seed uint64) *listener {
	c.t.Helper()
	l := newListener(c.t, mathrand.New(mathrand.NewPCG(seed, 3)))
	for _, s := range c.nodes {
		s.env = append(s.env, "ERRATA_ALERT_ALLOW_HOSTS="+strings.TrimPrefix(l.server.URL, "http://"))
	}
	return l
}

// tells lets a rule tell the listener of each new problem of a sender of its own. stop ends the
// sender; told waits until each problem was told of, and none in two messages.
func (c *cluster) tells(l *listener, seed uint64) (stop, told func()) {
	c.t.Helper()
	channel := c.nodes[0].create(c.t, "channels", fmt.Sprintf(`{"name":"one","kind":"webhook","url":"%s/one"}`, l.server.URL))
	c.nodes[0].create(c.t, "rules", fmt.Sprintf(`{"name":"new","search":"cause","when":{"new":true},"to":[%q]}`, channel))
	ctx, cancel := context.WithCancel(c.t.Context())
	abandon := make(chan struct{})
	sender, n := c.anywhere(seed, clusterClients+1, abandon), 0
	var done sync.WaitGroup
	done.Go(func() { n = sender.causes(ctx) })
	stop = sync.OnceFunc(func() { cancel(); done.Wait() })
	c.t.Cleanup(func() { close(abandon); stop() })
	return stop, func() {
		c.t.Helper()
		l.await(c.t, uint64(n), heard{"one", "new"})
		c.t.Logf("%d new problems were told of; %d messages came again", n, l.again)
	}
}

// causes sends new problems one after another until ctx ends, and returns how many.
func (c *client) causes(ctx context.Context) (n int) {
	for ; ctx.Err() == nil; n++ {
		e := c.event()
		e.class = "Cause" + letters(n+1)
		if !c.untilTaken(c.native, []sent{e}) {
			return n
		}
		// reason: the problems are to come during all faults.
		time.Sleep(causePause)
	}
	return n
}
