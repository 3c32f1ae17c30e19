package eventlog

import (
	"errors"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Log says where a log is. All functions of this package work on one.
type Log struct {
	// NATS carries the announcements of progress, JetStream the log itself.
	NATS      *nats.Conn
	JetStream jetstream.JetStream
	// Stream is the name of the stream, "LOG"; Prefix begins every subject, "" when
	// the NATS server holds only one log.
	Stream, Prefix string
	// Node names the node whose records count for whoever waits for an effect, "" where
	// all nodes share their records.
	Node string
}

func (l Log) validate() error {
	if l.NATS == nil || l.JetStream == nil || l.Stream == "" {
		return errors.New("log: NATS, JetStream and Stream are required")
	}
	return nil
}
