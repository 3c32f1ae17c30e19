package audit_test

import (
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/audit"
)

// Foreign messages in the trail and its sources do not stop the chain: it names
// them and can be checked, and each change has its entry.
//
// long: the life of one trail.
func TestForeignMessagesEndNoTrail(t *testing.T) {
	l := openLedger(t)
	var mu sync.Mutex
	skipped := map[uint64]bool{}
	l.cfg.Skipped = func(n uint64, why error) {
		mu.Lock()
		defer mu.Unlock()
		skipped[n] = why != nil
	}
	foreign := []string{`{"stream":"ERRORS","seq":1}`, "", "poison", `{"n":9,"hash":"x"}`}
	put := func(subject string) {
		t.Helper()
		for _, text := range foreign {
			if _, err := l.log.JetStream.Publish(t.Context(), subject, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	trail := l.log.Prefix + "audit"
	put(trail) // before the first entry
	first, stop := l.start()
	l.fact("cmd.greet", 1)
	l.catchUp(first)
	put(trail) // while an auditor waits: it notices by itself
	awaitEntry(t, l, 11)
	put(trail) // and just before a change
	l.fact("set.logging", map[string]any{"v": 1})
	l.catchUp(first)
	stop()
	put(trail) // while there is none
	// Foreign messages in the sources get entries without an actor.
	put(l.log.Prefix + "set.logging")
	put("$KV." + l.cfg.KeysBucket + ".key.000000000001")
	put(l.log.Prefix + "cmd.greet")
	second, _ := l.start()
	l.createKey("shop")
	l.catchUp(second)

	r, err := l.trail.Verify(t.Context())
	if err != nil || r.Problem != nil || r.Foreign != uint64(4*len(foreign)) {
		t.Fatalf("verify: %+v, %+v, error %v", r, r.Problem, err)
	}
	actions := map[string]int{}
	for _, e := range l.entries() {
		actions[e.Action]++
		if e.Action == "audit.unreadable" {
			mu.Lock()
			if !skipped[e.N] {
				t.Errorf("message %d of the trail is not counted", e.N)
			}
			mu.Unlock()
		}
		var named struct{ First, Last uint64 }
		if e.Action == audit.ActionForeign && (json.Unmarshal(e.Request, &named) != nil || named.Last != e.N-1 || named.Last-named.First+1 != uint64(len(foreign))) {
			t.Errorf("entry %d names %s", e.N, e.Request)
		}
	}
	// Foreign messages of the trail are listed without an action of their own.
	if n := actions["audit.unreadable"]; n != 4*len(foreign) || actions[audit.ActionForeign] != 4 || actions["settings.logging"] != 1+len(foreign) ||
		actions["greet"] != 1+len(foreign) || actions["key.create"] != 1 || actions["key.change"] != len(foreign) {
		t.Errorf("the trail has %v", actions)
	}
	page, err := l.trail.List(t.Context(), audit.Query{Action: "audit.foreign"})
	if err != nil || len(page.Entries) != 4 || !slices.IsSortedFunc(page.Entries, func(a, b audit.Entry) int { return int(b.N) - int(a.N) }) {
		t.Errorf("list: %+v, error %v", page, err)
	}
}

// awaitEntry waits until the trail has n messages.
func awaitEntry(t *testing.T, l *ledger, n uint64) {
	t.Helper()
	stream, err := l.log.JetStream.Stream(t.Context(), l.cfg.Stream)
	if err != nil {
		t.Fatal(err)
	}
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for late := time.After(patience); ; {
		msg, err := stream.GetMsg(t.Context(), n)
		if err == nil && len(msg.Data) > 0 {
			return
		}
		if err != nil && err != jetstream.ErrMsgNotFound {
			t.Fatal(err)
		}
		select {
		case <-look.C:
		case <-late:
			t.Fatalf("the trail has no message %d", n)
		}
	}
}
