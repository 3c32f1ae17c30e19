package main

import (
	"strings"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
)

func TestPrintNodes(t *testing.T) {
	var out strings.Builder
	if err := printNodes(&out, 0, []errata.Node{
		{Name: "errata-1:6222", Self: true, Role: "leads", Version: "v1.2.3", Position: 812, LagMS: 1500, Free: 3 << 30},
		{Name: "errata-2:6222", Role: "away", Away: errata.Instant(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))},
	}); err != nil {
		t.Fatal(err)
	}
	const want = `NODE                   ROLE   VERSION  POSITION   LAG  DISK FREE  AWAY SINCE
errata-1:6222 (asked)  leads  v1.2.3        812  1.5s   3.00 GiB  -
errata-2:6222          away   -               0    0s        0 B  2026-01-02T03:04:05Z
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestClusterInitNeedsACluster(t *testing.T) {
	if got := command(t, nil, "cluster", "init", "--data", t.TempDir()); got.code != exitFailed || !strings.Contains(got.err, "cluster-name") {
		t.Errorf("code %d: %s", got.code, got.err)
	}
}

// What to do next depends on how many nodes are left.
func TestWhatComesAfterLeave(t *testing.T) {
	for want, left := range map[string][]string{
		"no further node may fail":                {"a:6222", "b:6222"},
		"ERRATA_CLUSTER_PEERS may be these three": {"a:6222", "b:6222", "d:6222"},
		"ERRATA_CLUSTER_PEERS stays as it is":     {"a:6222", "b:6222", "d:6222", "e:6222"},
	} {
		text := afterLeave("c:6222", left)
		if !strings.Contains(text, want) || !strings.HasPrefix(text, "c:6222 has left the cluster; the nodes are "+strings.Join(left, ", ")) {
			t.Errorf("%d nodes are left:\n%s", len(left), text)
		}
	}
}

func TestLeaveNeedsANode(t *testing.T) {
	if got := command(t, nil, "cluster", "leave"); got.code != exitUsage {
		t.Errorf("code %d: %s", got.code, got.err)
	}
}
