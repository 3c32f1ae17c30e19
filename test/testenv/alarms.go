package testenv

import (
	"maps"
	"sync"
)

// Alarms keeps the standing alarms. The zero Alarms is ready, and safe for
// concurrent use.
type Alarms struct {
	mu       sync.Mutex
	standing map[string]string
}

// Raise notes an alarm, or replaces its text.
func (a *Alarms) Raise(name, detail, hint string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.standing == nil {
		a.standing = map[string]string{}
	}
	a.standing[name] = detail + " " + hint
}

// Clear ends an alarm.
func (a *Alarms) Clear(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.standing, name)
}

// Text is detail and hint of the alarm; "" while it does not stand.
func (a *Alarms) Text(name string) string { return a.Standing()[name] }

// Standing are the texts of all alarms that stand, by name.
func (a *Alarms) Standing() map[string]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.standing)
}
