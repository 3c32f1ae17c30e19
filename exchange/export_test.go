package exchange

import (
	"context"

	"github.com/errata-log/errata/ingest"
)

// WithoutValuesForTest is the normaliser of queries.
func WithoutValuesForTest(query string) (clean string, literals []string) {
	clean, literals, _ = withoutValues(query)
	return clean, literals
}

// standard cleans with the default rules.
var standard = cleaner{rules: new(ingest.Rules)}

// QueryForTest is the clean query and the clean error of a database.
var QueryForTest = standard.queryOf

// TargetForTest is the clean target.
var TargetForTest = standard.targetOf

// CancelForTest ends the work without waiting. For the stores it is like a crash:
// nothing is written or purged afterwards.
func (w *Writer) CancelForTest() {
	ended, end := context.WithCancel(context.Background())
	end()
	_ = w.work.Stop(ended) // its error says that the work still runs
}
