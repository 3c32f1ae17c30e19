//go:build linux

package crash

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"time"
)

// purge purges the log of all that it has, through one node. The records that were made of it
// cannot be folded again. The service refuses while its audit trail is behind, as it may be after a fault.
func (c *cluster) purge(node int) {
	c.t.Helper()
	await(c.t, "the log is purged", visibleLimit, func() bool {
		status := c.askPurge(node)
		if status != http.StatusOK && status != http.StatusServiceUnavailable {
			c.t.Fatalf("purge the log: %d", status)
		}
		return status == http.StatusOK
	})
}

func (c *cluster) askPurge(node int) (status int) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), visibleLimit)
	defer cancel()
	s := c.nodes[node]
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.addr+"/api/v1/admin/ops/erase", strings.NewReader(`{"users":["nobody has this name"],"cut_log":true}`))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.key("admin.key"))
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

// said counts the lines in the log of a node that have the text.
func (c *cluster) said(node int, text string) int {
	c.t.Helper()
	log, err := os.ReadFile(c.nodes[node].log.Name())
	if err != nil {
		c.t.Fatal(err)
	}
	return bytes.Count(log, []byte(text))
}

// wipePurged lets a node lose its disk after its log was purged, so that it needs the records of
// another node. With random it is killed at any moment of the start and of what it takes.
func (c *cluster) wipePurged(node int, random *rand.Rand) {
	c.t.Helper()
	c.purge((node + 1) % nodes)
	const taken = "has taken the records of another node"
	before := c.said(node, taken)
	c.wipe(node, func() {
		if random == nil {
			return
		}
		c.nodes[node].launch("")
		// reason: the moment of the kill is what is tried. Tables are taken some 2 to 6 s after the start.
		time.Sleep(time.Second + time.Duration(random.Int64N(int64(6*time.Second))))
		c.nodes[node].kill()
	})
	if c.said(node, taken) == before {
		c.t.Errorf("node %d is ready and has not taken the records of another node", node)
	}
}
