package ops

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Attempts registers the metrics of a start. While the nodes of a cluster do not agree yet, a
// step of the start may fail. Then it is tried again, and registers the same metrics again. So
// Undo removes those of the failed try. It is safe for concurrent use.
type Attempts struct {
	registry prometheus.Registerer

	mu    sync.Mutex
	added []prometheus.Collector // since the last Keep
}

// NewAttempts registers with the registry.
func NewAttempts(registry prometheus.Registerer) *Attempts { return &Attempts{registry: registry} }

// Register implements [prometheus.Registerer].
func (a *Attempts) Register(c prometheus.Collector) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.registry.Register(c)
	if err == nil {
		a.added = append(a.added, c)
	}
	return err
}

// MustRegister implements [prometheus.Registerer].
func (a *Attempts) MustRegister(all ...prometheus.Collector) {
	for _, c := range all {
		if err := a.Register(c); err != nil {
			panic(err)
		}
	}
}

// Unregister implements [prometheus.Registerer].
func (a *Attempts) Unregister(c prometheus.Collector) bool { return a.registry.Unregister(c) }

// Keep keeps what was registered.
func (a *Attempts) Keep() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.added = nil
}

// Undo removes what was registered since the last Keep.
func (a *Attempts) Undo() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.added {
		a.registry.Unregister(c)
	}
	a.added = nil
}
