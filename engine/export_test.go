package engine

import "net/url"

// DSNForTest is the address of the embedded ClickHouse with the password that
// only the service knows, so that a test can treat it as an external server.
func (ch *ClickHouse) DSNForTest() string {
	ch.child.mu.Lock()
	defer ch.child.mu.Unlock()
	return (&url.URL{
		Scheme: "clickhouse",
		User:   url.UserPassword(writerUser, ch.child.keys.writer),
		Host:   ch.child.addr,
		Path:   "/",
	}).String()
}

// ClickHouseForTest is the ClickHouse of the engines.
func (e *Engines) ClickHouseForTest() *ClickHouse { return e.clickhouse }

// SyncAlwaysForTest is the setting that the embedded NATS runs with.
func (e *Engines) SyncAlwaysForTest() bool { return e.NATS.embedded.JetStreamConfig().SyncAlways }

// CloseAnalystsForTest closes the address for analysts, as a lack of files might.
func (e *Engines) CloseAnalystsForTest() { e.analysts.listener.Close() }
