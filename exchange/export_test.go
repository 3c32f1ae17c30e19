package exchange

// WithoutValuesForTest is the normaliser of queries.
func WithoutValuesForTest(query string) (clean string, literals []string) {
	clean, literals, _ = withoutValues(query)
	return clean, literals
}

// QueryForTest is what is kept of a query and of what a database said about it.
var QueryForTest = queryOf

// TargetForTest is what is kept of a target.
var TargetForTest = targetOf

// CancelForTest ends the work without waiting, as a crash does as far as the
// stores can tell: nothing is written or purged afterwards.
func (w *Writer) CancelForTest() { w.cancel() }

// WaitForTest waits for what is under way.
func (w *Writer) WaitForTest() { w.running.Wait() }
