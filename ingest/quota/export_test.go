package quota

// Lanes is the number of keys and projects with requests on their way to the log.
func (q *Quotas) Lanes() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.lanes)
}
