package selfcheck

import (
	"context"
	"sync"
	"time"

	"github.com/errata-log/errata/projector"
)

// holdLimit bounds how long a start waits for merges that have begun before it.
const holdLimit = 5 * time.Second

// FirstLook keeps ClickHouse from merging the records until the first look has ended.
// After a merge nobody can see which parts are missing, so the records could not be
// taken back to the moment before them. A merge also makes damaged ClickHouse
// projections and skip indexes anew, so the damage would not be reported. Only a
// service that writes the tables alone may have one. It is safe for concurrent use.
type FirstLook struct {
	merges *projector.Merges

	mu      sync.Mutex
	over    bool
	release func(context.Context) error // nil when nothing is held
}

// NewFirstLook holds nothing yet.
func NewFirstLook(merges *projector.Merges) *FirstLook { return &FirstLook{merges: merges} }

// Hold stops the merges, unless the first look is over. A start that is tried again
// calls it again: ClickHouse may have been restarted, which starts merges.
func (f *FirstLook) Hold(ctx context.Context) error {
	if f.ended() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, holdLimit)
	defer cancel()
	release, err := f.merges.Hold(ctx, tableRecords)
	if err != nil {
		return err
	}
	f.mu.Lock()
	if !f.over { // else the first look has ended meanwhile
		f.release, release = release, f.release
	}
	f.mu.Unlock()
	return letGo(ctx, release)
}

func (f *FirstLook) ended() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.over
}

// end lets the merges go for good. It may be called again.
func (f *FirstLook) end(ctx context.Context) error {
	f.mu.Lock()
	release := f.release
	f.over, f.release = true, nil
	f.mu.Unlock()
	return letGo(ctx, release)
}

func letGo(ctx context.Context, release func(context.Context) error) error {
	if release == nil {
		return nil
	}
	return release(ctx)
}
