package servicetest

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

// Journal is the service's own log, from warnings upwards. It is an io.Writer.
type Journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write takes lines of the log.
func (j *Journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

// String is all that was logged.
func (j *Journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// Check fails the test for every error and every panic that was logged.
func (j *Journal) Check(t testing.TB) {
	t.Helper()
	for line := range strings.Lines(j.String()) {
		if strings.Contains(line, "engine=clickhouse") && strings.Contains(line, "NETWORK_ERROR") {
			// ClickHouse logs this when a query is cancelled, as a stop does.
			continue
		}
		if strings.Contains(line, "level=ERROR") || strings.Contains(line, "panic") {
			t.Errorf("the service logged: %.2000s", line)
		} else if t.Failed() {
			t.Logf("the service logged: %.2000s", line)
		}
	}
}
