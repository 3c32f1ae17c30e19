package referee

import (
	"testing"
	"time"
)

func world() World {
	return World{Seed: 1, Base: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Problems: 30}
}

// fold makes the records that a service without a fault would show.
func fold(w World, numbers ...int) (records []Record) {
	at := map[int]int{}
	for _, n := range numbers {
		e := w.Event(1, n)
		i, there := at[e.Problem]
		if !there {
			i = len(records)
			at[e.Problem] = i
			records = append(records, Record{Class: Class(e.Problem), FirstSeen: e.At, LastSeen: e.At, UserID: e.User})
			records[i].Payload.EventID = e.ID
		}
		r := &records[i]
		r.Count++
		if e.At.Before(r.FirstSeen) {
			r.FirstSeen = e.At
		}
		if e.At.After(r.LastSeen) {
			r.LastSeen = e.At
		}
	}
	return records
}

func numbers(from, to int) (all []int) {
	for n := from; n < to; n++ {
		all = append(all, n)
	}
	return all
}

func events(w World, numbers ...int) (all []Event) {
	for _, n := range numbers {
		all = append(all, w.Event(1, n))
	}
	return all
}

func TestNamesAreReadBack(t *testing.T) {
	for _, n := range []int{0, 1, 25, 26, 27, 700, 18_000} {
		if problem, ok := ParseClass(Class(n)); !ok || problem != n {
			t.Errorf("class %q is read as %d, %v", Class(n), problem, ok)
		}
		if sender, m, ok := ParseID(ID(3, n)); !ok || sender != 3 || m != n || len(ID(3, n)) != 32 {
			t.Errorf("id %q is read as %d, %d, %v", ID(3, n), sender, m, ok)
		}
	}
	for _, text := range []string{"", "Problem1", "Else", "Problema0"} {
		if _, ok := ParseClass(text); ok {
			t.Errorf("class %q is taken", text)
		}
	}
}

// TestEveryDifferenceIsSeen plants one of each kind.
func TestEveryDifferenceIsSeen(t *testing.T) {
	w := world()
	l := NewLedger(w)
	l.Accept(events(w, numbers(0, 200)...))
	l.Accept(events(w, 0, 1, 2)) // sent again
	if v := l.Check(fold(w, numbers(0, 200)...)); !v.OK() {
		t.Fatalf("records without a fault: %+v", v)
	}
	for name, c := range map[string]struct {
		records []Record
		want    Verdict
	}{
		"one less":       {fold(w, numbers(1, 200)...), Verdict{Lost: 1}},
		"one twice":      {fold(w, append(numbers(0, 200), 7)...), Verdict{Twice: 1}},
		"no records":     {nil, Verdict{Lost: 200}},
		"nobody's":       {append(fold(w, numbers(0, 200)...), Record{Class: "ProblemX", Count: 1}), Verdict{Wrong: 1}},
		"another moment": {later(fold(w, numbers(0, 200)...)), Verdict{Wrong: 1}},
	} {
		v := l.Check(c.records)
		if len(v.Lines) == 0 {
			t.Errorf("%s: nothing is said", name)
		}
		v.Lines = nil
		if v.Lost != c.want.Lost || v.Twice != c.want.Twice || v.Wrong != c.want.Wrong || v.Back != 0 {
			t.Errorf("%s: %+v, want %+v", name, v, c.want)
		}
	}
}

func later(records []Record) []Record {
	records[0].LastSeen = records[0].LastSeen.Add(time.Millisecond)
	return records
}

// TestDoubtIsARange: a record may count events in doubt or not, until they are
// accepted.
func TestDoubtIsARange(t *testing.T) {
	w := world()
	l := NewLedger(w)
	l.Accept(events(w, numbers(0, 100)...))
	l.Doubt(events(w, numbers(90, 120)...)) // ten of them were accepted before
	if n := len(l.Doubtful()); n != 20 {
		t.Fatalf("%d are in doubt, want 20", n)
	}
	for _, to := range []int{100, 110, 120} {
		if v := l.Check(fold(w, numbers(0, to)...)); !v.OK() {
			t.Errorf("the first %d are counted: %+v", to, v)
		}
	}
	if v := l.Check(fold(w, append(numbers(0, 120), 119)...)); v.Twice != 1 {
		t.Errorf("one in doubt is counted twice: %+v", v)
	}
	same := l.Clone()
	l.Accept(l.Doubtful())
	if v := l.Check(fold(w, numbers(0, 119)...)); v.Lost != 1 {
		t.Errorf("one that is accepted now is missing: %+v", v)
	}
	if v := same.Check(fold(w, numbers(0, 119)...)); !v.OK() {
		t.Errorf("the copy changed with it: %+v", v)
	}
}

func TestPayloadIsOfAnEventThatWasSent(t *testing.T) {
	w := world()
	l := NewLedger(w)
	l.Accept(events(w, numbers(0, 50)...))
	good := fold(w, numbers(0, 50)...)[0]
	if v := l.CheckDetail(good); !v.OK() {
		t.Fatalf("%+v", v)
	}
	other, unsent := good, good
	other.UserID++
	unsent.Payload.EventID = ID(1, 50)
	for name, r := range map[string]Record{"another user": other, "never sent": unsent} {
		if v := l.CheckDetail(r); v.Wrong != 1 {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

func TestOwnedProblemsAreFollowed(t *testing.T) {
	at := world().Base
	o := &Owned{Class: OwnedClass(0, 0), Signature: "s"}
	check := func(name string, count int, status string, want Verdict) {
		t.Helper()
		var records []Record
		if count > 0 {
			records = []Record{{Class: o.Class, Count: count, Status: status, Regressed: o.Regressed, FirstSeen: o.First, LastSeen: o.Last}}
		}
		v := CheckOwned([]*Owned{o}, records)
		if v.Lost != want.Lost || v.Twice != want.Twice || v.Back != want.Back || v.Wrong != want.Wrong {
			t.Errorf("%s: %+v, want %+v", name, v, want)
		}
	}
	o.Sight("a", at)
	o.Sight("b", at.Add(time.Second))
	check("two sightings", 2, "open", Verdict{})
	check("a third", 3, "open", Verdict{Twice: 1})
	check("one", 1, "open", Verdict{Lost: 1})
	o.Move("resolved")
	check("resolved", 2, "resolved", Verdict{})
	check("still open", 2, "open", Verdict{Wrong: 1})
	o.Sight("c", at)
	if o.Status != "open" || !o.Regressed {
		t.Errorf("a sighting of a resolved problem: %+v", o)
	}
	o.Delete()
	check("deleted", 0, "", Verdict{})
	check("back", 1, "open", Verdict{Back: 1})
	o.Sight("d", at)
	check("new life", 1, "open", Verdict{})
	check("old life in it", 4, "open", Verdict{Back: 1})
	if v := CheckOwned(nil, []Record{{Class: o.Class, Count: 1}}); v.Wrong != 1 {
		t.Errorf("a record of no owner: %+v", v)
	}
}
