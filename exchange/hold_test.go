package exchange_test

import (
	"fmt"
	"testing"

	"github.com/errata-log/errata/exchange"
)

// After an older table has taken the place of the one that was written, what it lacks is written
// again, as long as it is kept on the stream.
func TestATableIsReplaced(t *testing.T) {
	b := newBench(t)
	w, err := exchange.NewWriter(t.Context(), exchange.WriterConfig{
		Stream: b.stream, ClickHouse: b.ClickHouse, ModuleDays: 14, QueryDays: 7,
		Keep: func(exchange.Log, uint64, bool) uint64 { return 0 },
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Start()
	defer stop(t, w)
	var want []string
	send := func(name string) {
		t.Helper()
		want = append(want, name)
		b.taken(t, exchange.Modules, 1, fmt.Sprintf(`{"module":%q}`, name))
		eventually(t, "it is written", func() bool { return w.Next(exchange.Modules) == uint64(len(want))+1 })
	}
	for i := range 3 {
		send(fmt.Sprint("before", i))
	}
	exec := func(statement string) error { return b.ClickHouse.Exec(t.Context(), statement) }
	if err := w.Hold(t.Context(), func() error {
		for _, statement := range []string{
			"CREATE TABLE older AS module_log", "INSERT INTO older SELECT * FROM module_log WHERE sequence = 1", "EXCHANGE TABLES module_log AND older", "DROP TABLE older SYNC",
		} {
			if err := exec(statement); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all are written again", func() bool { return w.Next(exchange.Modules) == 4 })
	send("after")
	b.written(t, want)
}
