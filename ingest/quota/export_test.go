package quota

// Lanes is how many keys have requests under way.
func (q *Quotas) Lanes() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.lanes)
}
