package audit_test

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/audit"
)

// numbers are the numbers of the entries of a page, then a bar and its Next.
func numbers(p audit.Page) string {
	var text strings.Builder
	for _, e := range p.Entries {
		fmt.Fprintf(&text, "%d ", e.N)
	}
	return fmt.Sprintf("%s| %d", text.String(), p.Next)
}

func TestListFilters(t *testing.T) {
	l := openLedger(t)
	empty, err := l.trail.List(t.Context(), audit.Query{})
	if err != nil || empty.Entries == nil || numbers(empty) != "| 0" || empty.Limit != audit.DefaultLimit {
		t.Errorf("an empty trail: %+v, %v", empty, err)
	}
	bob := errata.Actor{KeyID: "000000000008", KeyName: "bob"}
	for i := range 6 { // 1 to 12: ada greets and sets, bob deletes
		if i == 2 {
			nextMillisecond()
		}
		l.factBy([]errata.Actor{ada, bob}[i%2], []string{"cmd.greet", "cmd.delete"}[i%2], i)
		l.fact("set.logging", i)
	}
	a, _ := l.start()
	l.catchUp(a)
	fifth := l.entries()[4].Time
	for _, c := range []struct {
		q    audit.Query
		want string
	}{
		{audit.Query{}, "12 11 10 9 8 7 6 5 4 3 2 1 | 0"},
		{audit.Query{Limit: 12}, "12 11 10 9 8 7 6 5 4 3 2 1 | 0"},
		{audit.Query{Limit: 5}, "12 11 10 9 8 | 8"},
		{audit.Query{Limit: 5, Before: 8}, "7 6 5 4 3 | 3"},
		{audit.Query{Limit: 5, Before: 3}, "2 1 | 0"},
		{audit.Query{Before: 1}, "| 0"},
		{audit.Query{Before: 1 << 60, Limit: 1}, "12 | 12"},
		{audit.Query{Actor: "000000000008"}, "11 7 3 | 0"},
		{audit.Query{Actor: "bob", Limit: 2}, "11 7 | 7"},
		{audit.Query{Actor: "bob", Limit: 2, Before: 7}, "3 | 0"},
		{audit.Query{Actor: "bo"}, "| 0"},
		{audit.Query{Action: "greet"}, "9 5 1 | 0"},
		{audit.Query{Action: "errors.*", Limit: 3}, "11 7 3 | 0"},
		{audit.Query{Action: "settings.*", Actor: "ada", Limit: 1}, "12 | 12"},
		{audit.Query{From: time.Now().Add(time.Hour)}, "| 0"},
		{audit.Query{To: time.Now().Add(-time.Hour)}, "| 0"},
		{audit.Query{From: fifth, Action: "greet", Before: 6}, "5 | 0"},
		{audit.Query{To: fifth, Before: 2}, "1 | 0"},
	} {
		page, err := l.trail.List(t.Context(), c.q)
		if err != nil || numbers(page) != c.want {
			t.Errorf("%+v: got %s, %v, want %s", c.q, numbers(page), err, c.want)
		}
	}
}

// nextMillisecond returns when what is written next has a later time on the log, which
// tells milliseconds.
func nextMillisecond() {
	for began := time.Now().UnixMilli(); time.Now().UnixMilli() <= began; {
		runtime.Gosched()
	}
}

// TestVerifyFindsWhatWasChanged copies a trail to a stream in which messages
// can be changed and removed.
func TestVerifyFindsWhatWasChanged(t *testing.T) {
	l := openLedger(t)
	const entries = 250 // more than one pull
	for i := range entries {
		l.fact("set.logging", map[string]int{"v": 1, "after": i})
	}
	a, _ := l.start()
	l.catchUp(a)
	began := time.Now()
	l.checkComplete()
	t.Logf("%d entries checked in %v", entries, time.Since(began))
	source, err := l.log.JetStream.Stream(t.Context(), l.cfg.Stream)
	l.must(err)
	if err := source.DeleteMsg(t.Context(), 3); err == nil {
		t.Error("the trail lets an entry be deleted")
	}
	if err := source.Purge(t.Context()); err == nil {
		t.Error("the trail lets itself be purged")
	}
	var messages [][]byte
	for n := range uint64(entries) {
		msg, err := source.GetMsg(t.Context(), n+1)
		l.must(err)
		messages = append(messages, msg.Data)
	}
	for _, c := range []struct {
		name   string
		change func([][]byte) [][]byte
		remove []uint64
		want   *audit.Problem
		good   uint64
	}{
		{"a true copy", func(m [][]byte) [][]byte { return m }, nil, nil, entries},
		{"one byte", func(m [][]byte) [][]byte {
			m[100] = []byte(strings.Replace(string(m[100]), `"ada"`, `"eve"`, 1))
			return m
		}, nil, &audit.Problem{N: 101, Reason: "it was changed: its hash is another one"}, 100},
		{"cut out", func(m [][]byte) [][]byte { return m }, []uint64{7}, &audit.Problem{N: 7, Reason: "it is missing: entry 8 follows entry 6"}, 6},
		{"the front", func(m [][]byte) [][]byte { return m }, []uint64{1, 2}, &audit.Problem{N: 1, Reason: "it is missing: entry 3 follows entry 0"}, 0},
		{"the end", func(m [][]byte) [][]byte { return m[:4] }, []uint64{3, 4}, &audit.Problem{N: 3, Reason: "it is missing: the trail reaches to entry 4"}, 2},
		{"everything", func(m [][]byte) [][]byte { return m[:1] }, []uint64{1}, &audit.Problem{N: 1, Reason: "it is missing: the trail reaches to entry 1"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			copied := l.copyTrail(c.change(append([][]byte(nil), messages...)), c.remove)
			r, err := copied.Verify(t.Context())
			if diff := cmp.Diff(c.want, r.Problem); err != nil || diff != "" || r.Entries != c.good {
				t.Errorf("%d good entries, %v, problem (-want +got):\n%s", r.Entries, err, diff)
			}
			if page, err := copied.List(t.Context(), audit.Query{}); err != nil {
				t.Errorf("list of a broken trail: %+v, %v", page, err)
			}
		})
	}
}

// copyTrail writes messages to a stream of its own and removes some again.
func (l *ledger) copyTrail(messages [][]byte, remove []uint64) *audit.Trail {
	l.t.Helper()
	l.copies++
	name, subject := fmt.Sprintf("COPY%d_%s", l.copies, l.cfg.Stream), fmt.Sprintf("copy%d.%s", l.copies, l.cfg.Stream)
	s, err := l.log.JetStream.CreateStream(l.ctx, jetstream.StreamConfig{Name: name, Subjects: []string{subject}, AllowDirect: true})
	l.must(err)
	l.cleanup = append(l.cleanup, func() { l.must(l.log.JetStream.DeleteStream(l.ctx, name)) })
	for _, message := range messages {
		_, err := l.log.JetStream.PublishMsg(l.ctx, &nats.Msg{Subject: subject, Data: message})
		l.must(err)
	}
	for _, n := range remove {
		l.must(s.DeleteMsg(l.ctx, n))
	}
	cfg := l.cfg
	cfg.Stream = name
	return audit.NewTrail(cfg)
}

func TestConfigIsChecked(t *testing.T) {
	l := openLedger(t)
	for name, spoil := range map[string]func(*audit.Config){
		"no bucket": func(c *audit.Config) { c.KeysBucket = "" }, "no stream": func(c *audit.Config) { c.Stream = "" },
		"no answers": func(c *audit.Config) { c.Answers = nil }, "no NATS": func(c *audit.Config) { c.Log.NATS = nil },
	} {
		cfg := l.cfg
		spoil(&cfg)
		if _, err := audit.New(cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	auditor, err := audit.New(l.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if c := auditor.Check(t.Context()); !c.OK || !regexp.MustCompile(`, 0 of [1-9]\d* bytes$`).MatchString(c.Detail) {
		t.Errorf("room: %+v", c)
	}
}
