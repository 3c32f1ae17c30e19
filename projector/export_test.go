package projector

// SetSweepSize makes cleanups take more inserts than their size asks for.
func SetSweepSize(n int64) (restore func()) {
	old := sweepSize
	sweepSize = n
	return func() { sweepSize = old }
}
