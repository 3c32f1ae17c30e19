package projector

import (
	"context"
	"maps"
	"sync/atomic"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// once returns a context in which an insert with the token happens at most once, with
// further settings, and the receipt of that insert. Its rows must be sent as one block: of an
// insert in several blocks the server makes one part too, and does not recognise the second
// one with the token.
func once(ctx context.Context, token string, further clickhouse.Settings) (context.Context, *receipt) {
	settings := clickhouse.Settings{
		"async_insert": 0, "insert_deduplicate": 1, "insert_deduplication_token": token,
		settingLateIndex: lateIndex,
	}
	maps.Copy(settings, further)
	r := new(receipt)
	return clickhouse.Context(ctx, clickhouse.WithSettings(settings), clickhouse.WithProfileEvents(r.read)), r
}

// receipt is what the server says of an insert before it confirms it. When the context of the
// insert ends, the driver may still be reading.
type receipt struct{ rows, repeated atomic.Int64 }

// The events of ClickHouse that count the rows of an insert, also when it is left out, and
// what was left out because its token was used before.
const (
	eventInserted = "InsertedRows"
	eventRepeated = "DuplicatedInsertedBlocks"
)

func (r *receipt) read(events []clickhouse.ProfileEvent) {
	for i := range events {
		switch events[i].Name {
		case eventInserted:
			r.rows.Add(events[i].Value)
		case eventRepeated:
			r.repeated.Add(events[i].Value)
		}
	}
}

// written says that the server has told about the insert, and did not leave it out. A nil
// receipt, of an insert that has none, says no.
func (r *receipt) written() bool { return r != nil && r.rows.Load() > 0 && r.repeated.Load() == 0 }
