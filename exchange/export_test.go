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

// standard cleans by the default rules.
var standard = cleaner{rules: new(ingest.Rules)}

// QueryForTest is what is kept of a query and of what a database said about it.
var QueryForTest = standard.queryOf

// TargetForTest is what is kept of a target.
var TargetForTest = standard.targetOf

// CancelForTest ends the work without waiting, as a crash does as far as the
// stores can tell: nothing is written or purged afterwards.
func (w *Writer) CancelForTest() {
	ended, end := context.WithCancel(context.Background())
	end()
	_ = w.work.Stop(ended) // it says that something is under way
}
