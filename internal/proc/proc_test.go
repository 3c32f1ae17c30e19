package proc

import (
	"os"
	"strings"
	"testing"
	"time"
)

// The fixtures are a service (100) with its child (101), in whose family the benchmark
// (102) with its null sink (103) runs, another process (200), and one that ended while it
// was read (150).
func TestFamilies(t *testing.T) {
	page := int64(os.Getpagesize())
	for _, c := range []struct {
		name  string
		pids  []int
		ticks int64
		pages int64
	}{
		{"a process with its child, and children of it that ended", []int{100}, 40 + 10 + 5 + 2 + 200 + 20, 3000},
		{"a child alone", []int{101}, 220, 2000},
		{"one named twice counts once", []int{100, 101, 100}, 277, 3000},
		{"two families", []int{100, 200}, 281, 3050},
		{"all, without the benchmark", []int{1}, 12000 + 281, 3350},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Families("testdata/proc", c.pids, 102)
			want := Usage{Processor: time.Duration(c.ticks) * 10 * time.Millisecond, Resident: c.pages * page}
			if err != nil || got != want {
				t.Errorf("got %+v, %v; want %+v", got, err, want)
			}
		})
	}
}

func TestFamiliesThatAreNotThere(t *testing.T) {
	for _, pid := range []int{0, 99, 150} {
		if got, err := Families("testdata/proc", []int{100, pid}, 102); err == nil || !strings.Contains(err.Error(), "no process") {
			t.Errorf("process %d: %+v, %v", pid, got, err)
		}
	}
	if got, err := Families("testdata/elsewhere", []int{1}, 102); err == nil {
		t.Errorf("without the folder: %+v", got)
	}
}

func TestProcessors(t *testing.T) {
	read := func(text string) Processors {
		t.Helper()
		p, err := ParseProcessors([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	before := read("cpu  100 10 50 1000 40 5 5 20 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n")
	after := read("cpu  150 20 70 1100 60 10 15 30 7 0\n")
	if got := after.Busy() - before.Busy(); got != 50+10+20+5+10 {
		t.Errorf("%d busy ticks", got)
	}
	if got := after.BusySince(before); got != 95.0/(95+10+100+20) {
		t.Errorf("busy for %v", got)
	}
	if got := after.StolenSince(before); got != 10.0/(95+10) {
		t.Errorf("%v stolen", got)
	}
	if before.BusySince(before) != 0 || before.StolenSince(before) != 0 {
		t.Error("no time is not no share")
	}
	for _, text := range []string{"", "cpu", "cpu 1 2 3 4 5 6 7", "intr 1 2 3 4 5 6 7 8", "cpu 1 2 3 x 5 6 7 8"} {
		if p, err := ParseProcessors([]byte(text)); err == nil {
			t.Errorf("%q is read as %+v", text, p)
		}
	}
}

func TestHighest(t *testing.T) {
	asked, values := make(chan struct{}), make(chan int64)
	highest := Highest(func() (int64, error) {
		asked <- struct{}{}
		return <-values, nil
	})
	for _, n := range []int64{3, 7, 5} {
		<-asked
		values <- n
	}
	go func() { // one more may be asked for before the end
		for range asked {
			values <- 1
		}
	}()
	got, err := highest()
	close(asked)
	if err != nil || got != 7 {
		t.Errorf("got %d, %v; want 7", got, err)
	}
}
