package alerts

// Fired is how many firings of a rule the decider remembers.
func (d *Decider) Fired(rule string) int { return len(d.rule(rule).fired) }

// MinFired is how many it may remember at least.
const MinFired = minFired
