package projector

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/signature"
)

var recordOptions = cmp.Options{cmpopts.EquateComparable(netip.Addr{}), cmpopts.EquateEmpty()}

// model folds events one by one, each id once, in the simplest way.
type model struct {
	seen    map[errata.EventID]bool
	records map[recordKey]errata.Record
	rows    DeploymentRows
}

func newModel() *model {
	return &model{seen: map[errata.EventID]bool{}, records: map[recordKey]errata.Record{}, rows: DeploymentRows{}}
}

func (m *model) apply(e errata.Event, at errata.Position) {
	if m.seen[e.ID] {
		return
	}
	m.seen[e.ID] = true
	key := recordKey{e.Book, e.Signature}
	r, ok := m.records[key]
	if !ok {
		r = errata.Record{
			Book: e.Book, Signature: e.Signature, ID: at, FirstSeen: e.Time, LastSeen: e.Time, Level: e.Level,
			File: e.File, Line: e.Line, Message: e.Message, Class: e.Class, URI: e.URI, Method: e.Method,
			UserID: e.UserID, IP: e.IP, Status: errata.StatusOpen,
		}
	}
	r.Count++
	r.Version = at
	r.Level = max(r.Level, e.Level)
	if e.Time.Before(r.FirstSeen) {
		r.FirstSeen = e.Time
	}
	if e.Time.After(r.LastSeen) {
		r.LastSeen = e.Time
	}
	ModelDeploy(&r, m.rows, e)
	m.records[key] = r
}

// drawLog draws a log of blocks with few ids and few signatures, so that
// repeats and shared records are common.
func drawLog(t *rapid.T) [][]errata.Event {
	event := rapid.Custom(func(t *rapid.T) errata.Event {
		n := rapid.IntRange(0, 60).Draw(t, "id")
		e := errata.Event{
			// An event that is sent again differs only in its receive time.
			ID: idOf(n), Book: errata.Books[n%2], Level: errata.Level(1 + n%7),
			Time:    time.UnixMilli(1_700_000_000_000 + int64(n*7919%1000)).UTC(),
			Project: uint64(n % 5), Environment: []string{"", "prod", "qa"}[n%3], Release: []string{"1", "2"}[n%2],
			Message: string(rune('a' + n%26)), Line: uint32(n), UserID: int64(n), Payload: []byte{byte(n)},
		}
		e.Signature[0] = byte(n % 5)
		e.Received = e.Time
		return e
	})
	return rapid.SliceOfN(rapid.SliceOfN(event, 1, 8), 1, 20).Draw(t, "log")
}

// TestFoldIsIndependentOfBatches: for any way to cut a log into batches, the
// records and their contexts are those of the model.
func TestFoldIsIndependentOfBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := drawLog(t)
		want := newModel()
		records := map[recordKey]errata.Record{}
		payloads := map[errata.Position]string{}
		w, b := newWindow(maxWindowIDs, 0), newBatch(rolledTo{})
		flush := func() {
			for _, key := range b.order {
				var old *errata.Record
				if r, ok := records[key]; ok {
					old = &r
				}
				now, payload, err := advance(old, b.deltas[key], nil)
				if err != nil {
					t.Fatal(err)
				}
				records[key] = now
				if old == nil {
					payloads[now.ID] = string(payload)
				}
			}
			b = newBatch(rolledTo{})
		}
		for i, events := range log {
			seq := uint64(i + 1)
			b.fold(w, seq, decodedBlock(t, events), recording{})
			for j, e := range events {
				want.apply(e, errata.PositionOf(seq, j))
			}
			if rapid.Bool().Draw(t, "flush") {
				flush()
			}
		}
		flush()
		if diff := cmp.Diff(want.records, records, recordOptions, cmp.AllowUnexported(recordKey{})); diff != "" {
			t.Fatalf("records (-model +fold):\n%s", diff)
		}
		for key, r := range want.records {
			first := log[r.ID.Sequence()-1][uint64(r.ID)&(errata.MaxBlockEvents-1)]
			if payloads[r.ID] != string(first.Payload) {
				t.Fatalf("payload of %v is %q, want that of its first sighting %q", key, payloads[r.ID], first.Payload)
			}
		}
	})
}

func TestAdvanceReopensResolved(t *testing.T) {
	at := time.UnixMilli(1000).UTC()
	d := &delta{count: 2, first: 500, last: 2000, level: errata.LevelInfo, version: 9}
	for _, test := range []struct {
		status        errata.Status
		want          errata.Status
		wantRegressed bool
	}{
		{errata.StatusOpen, errata.StatusOpen, false},
		{errata.StatusResolved, errata.StatusOpen, true},
		{errata.StatusMuted, errata.StatusMuted, false},
	} {
		old := errata.Record{Status: test.status, Level: errata.LevelFatal, Count: 3, FirstSeen: at, LastSeen: at, ID: 4, Version: 5}
		now, _, err := advance(&old, d, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := errata.Record{
			Status: test.want, Regressed: test.wantRegressed, Level: errata.LevelFatal, Count: 5, ID: 4, Version: 9,
			FirstSeen: time.UnixMilli(500).UTC(), LastSeen: time.UnixMilli(2000).UTC(),
		}
		if diff := cmp.Diff(want, now, recordOptions); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.status, diff)
		}
	}
}

func TestPresence(t *testing.T) {
	var p presence
	key := func(n int) recordKey {
		return recordKey{errata.BookSystem, signature.Sign(signature.Identity{Project: uint64(n)})}
	}
	if p.mayHave(key(0).hashes()) {
		t.Error("an empty filter has a record")
	}
	const n = 300_000 // two layers
	for i := range n {
		p.add(key(i).hashes())
	}
	for i := range n {
		if !p.mayHave(key(i).hashes()) {
			t.Fatalf("record %d was added and is not there", i)
		}
	}
	wrong := 0
	for i := n; i < 2*n; i++ {
		if p.mayHave(key(i).hashes()) {
			wrong++
		}
	}
	if share := float64(wrong) / n; share > 0.003 {
		t.Errorf("%.2f %% of absent records look present, want at most 0.3 %%", 100*share)
	}
}
