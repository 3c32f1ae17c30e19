package projector

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

// rowsOf are the rows that a change adds to the table deployments.
func rowsOf(ch change) DeploymentRows {
	rows := DeploymentRows{}
	for _, d := range ch.deployed.list {
		if d.count == 0 {
			continue
		}
		rows.Add(DeploymentRow{
			Book: ch.key.book, Signature: ch.key.signature, ID: ch.countedOf, Project: ch.project,
			Environment: d.environment, Release: d.release, Count: d.count, FirstMillis: d.first, LastMillis: d.last,
		})
	}
	return rows
}

// rollUp adds the changes to one of the rollups.
func (c *tables) rollUp(t *rapid.T, b *batch, changes []change, table string) {
	if table == RollupOccurrences {
		for at, row := range occurredRows(&b.occurred) {
			if _, twice := c.occurred[at]; twice {
				t.Fatalf("two rows of %+v", row)
			}
			c.occurred[at] = row
		}
		c.rolled.occurrences = max(c.rolled.occurrences, b.last)
		return
	}
	for _, ch := range changes {
		if table == RollupDeployments {
			for _, row := range rowsOf(ch) {
				c.deployed.Add(row)
			}
			continue
		}
		for _, h := range ch.hours.list {
			c.hours[hourKey{ch.key, ch.countedOf, h.hour, h.level}] += h.count
		}
	}
	if table == RollupDeployments {
		c.rolled.deployments = max(c.rolled.deployments, b.last)
	} else {
		c.rolled.hourly = max(c.rolled.hourly, b.last)
	}
}

// deployedLog makes a log of two records, and what the model makes of it.
func deployedLog(t *rapid.T, random *rand.Rand) (log []eventlog.Block, records map[recordKey]errata.Record, rows DeploymentRows) {
	environments, releases := 1+random.IntN(40), 1+random.IntN(500)
	name := func(kind string, n int) string {
		switch random.IntN(20) {
		case 0:
			return ""
		case 1:
			return "(other)"
		}
		return fmt.Sprint(kind, random.IntN(n))
	}
	records, rows = map[recordKey]errata.Record{}, DeploymentRows{}
	for seq := range 1 + random.IntN(40) {
		events := make([]errata.Event, 1+random.IntN(40))
		for i := range events {
			at := time.UnixMilli(1_700_000_000_000 + random.Int64N(1e9)).UTC()
			events[i] = errata.Event{
				ID: errata.NewEventID(1, fmt.Sprint(seq, " ", i)), Project: 7, Book: errata.BookSystem, Time: at, Received: at,
				Environment: name("env", environments), Release: name("r", releases),
			}
			events[i].Signature[0] = byte(random.IntN(2))
			key := recordKey{events[i].Book, events[i].Signature}
			r, there := records[key]
			if !there {
				r = errata.Record{Book: key.book, Signature: key.signature, ID: errata.PositionOf(uint64(seq+1), i)}
			}
			ModelDeploy(&r, rows, events[i])
			records[key] = r
		}
		data, err := eventlog.EncodeBlock(events)
		if err != nil {
			t.Fatal(err)
		}
		block, err := eventlog.DecodeBlock(data, nil)
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, block)
	}
	return log, records, rows
}

// foldPieces folds the log in pieces. Sometimes the rows of a piece are written and
// its records are not, as by a crash in between; the next piece begins where it began.
func foldPieces(random *rand.Rand, log []eventlog.Block) (records map[recordKey]errata.Record, rows DeploymentRows) {
	records, rows = map[recordKey]errata.Record{}, DeploymentRows{}
	var rolled rolledTo
	for done := uint64(0); done < uint64(len(log)); {
		w, b := newWindow(maxWindowIDs, 0), newBatch(rolled)
		last := done + 1 + random.Uint64N(min(uint64(len(log))-done, 12))
		for seq := done + 1; seq <= last; seq++ {
			b.fold(w, seq, log[seq-1], recording{})
		}
		old := map[recordKey]*errata.Record{}
		for key, r := range records {
			old[key] = &r
		}
		changes, _ := changesOf(b, b.order, old, nil)
		crashed := random.IntN(4) == 0
		for _, ch := range changes {
			for _, row := range rowsOf(ch) {
				rows.Add(row)
			}
			if !crashed {
				records[ch.key] = *ch.now
			}
		}
		rolled.deployments = max(rolled.deployments, last)
		if !crashed {
			done = last
		}
	}
	return records, rows
}

// TestDeploymentsAreIndependentOfBatches: for any way to cut a log into batches, the
// sets of the records, their order and the rows are those of the model, also with
// more names than a record tells apart, and when the rows of a batch were written
// before a crash and its records were not.
func TestDeploymentsAreIndependentOfBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		log, wantRecords, wantRows := deployedLog(t, random)
		records, rows := foldPieces(random, log)
		for key, want := range wantRecords {
			got := records[key]
			got = errata.Record{Book: got.Book, Signature: got.Signature, ID: got.ID, Project: got.Project, Environments: got.Environments, Releases: got.Releases}
			if diff := cmp.Diff(want, got, recordOptions); diff != "" {
				t.Fatalf("record (-model +fold):\n%s", diff)
			}
			if len(got.Environments) > 20 || len(got.Releases) > 200 {
				t.Fatalf("%d environments, %d releases", len(got.Environments), len(got.Releases))
			}
		}
		if !maps.Equal(wantRows, rows) { // cmp alone takes a hundred times as long
			t.Fatalf("rows (-model +fold):\n%s", cmp.Diff(wantRows, rows))
		}
	})
}

// TestProjectOfAnOlderRecord: a record of an older version takes its project from
// its next event, and keeps it then.
func TestProjectOfAnOlderRecord(t *testing.T) {
	for _, test := range []struct{ old, event, want uint64 }{{0, 7, 7}, {7, 7, 7}, {0, 0, 0}} {
		now, _, err := advance(&errata.Record{ID: 4, Project: test.old}, &delta{count: 1, project: test.event}, nil)
		if err != nil || now.Project != test.want {
			t.Errorf("%+v: the project is %d (%v)", test, now.Project, err)
		}
	}
}

// TestSetsAreNotShared: the record from before keeps its sets.
func TestSetsAreNotShared(t *testing.T) {
	old := errata.Record{ID: 4, Environments: []string{"a", "b"}, Releases: make([]string, 1, 9)}
	old.Releases[0] = "1"
	for _, name := range []string{"b", "c"} {
		d := &delta{count: 1}
		d.deployed.append(deployment{environment: name, release: "2", begin: 9, end: 9})
		now, _, err := advance(&old, d, nil)
		if err != nil || now.Environments[0] != name || cmp.Diff(now.Releases, []string{"2", "1"}) != "" {
			t.Errorf("%s: %v %v (%v)", name, now.Environments, now.Releases, err)
		}
		if cmp.Diff(old.Environments, []string{"a", "b"}) != "" || cmp.Diff(old.Releases[:2], []string{"1", ""}) != "" {
			t.Errorf("%s changed the old sets: %v %v", name, old.Environments, old.Releases[:2])
		}
	}
}

// TestManyReleasesOfOneRecord: a sender that invents a release for each event costs
// time in proportion to its events.
func TestManyReleasesOfOneRecord(t *testing.T) {
	const events = 20_000
	b := newBatch(rolledTo{})
	d := &delta{}
	for n := range events {
		at := errata.PositionOf(uint64(n+1), 0)
		b.deploy(d, eventlog.Origin{Environment: []byte("prod"), Release: fmt.Append(nil, "build ", n)}, deployment{count: 1, begin: at, end: at})
	}
	if b.bytes < events*100 {
		t.Errorf("they count as %d bytes of the batch", b.bytes)
	}
	_, releases := d.deployed.place(nil, nil)
	if len(releases) != 200 || releases[0] != "build 199" || len(d.deployed.list) != 201 {
		t.Errorf("%d releases, the latest %q, in %d rows", len(releases), releases[0], len(d.deployed.list))
	}
	for _, row := range d.deployed.list {
		if want := uint64(1); row.release != otherName && row.count != want || row.release == otherName && row.count != events-200 {
			t.Errorf("%+v", row)
		}
	}
}
