package ordered

import (
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// PullExpiry is when a reader asks for messages anew.
	PullExpiry = 10 * time.Second
	// inCluster is how often a reader without messages gets a heartbeat in a cluster. After two
	// missed ones the node that has the consumer is gone, or frozen.
	inCluster = time.Second
	// alone is the same for a server alone: when that is gone, the connection is gone too.
	// Heartbeats are a third of what an idle service takes, if each reader gets one a second.
	alone = PullExpiry / 2
)

// Heartbeat is how often a reader asks to hear from the server when there are no messages.
func Heartbeat(nc *nats.Conn) time.Duration {
	if nc.ConnectedClusterName() == "" {
		return alone
	}
	return inCluster
}

// ErrReconnected is why somebody asks for another consumer when [OnReconnect] was called.
var ErrReconnected = errors.New("the connection was made anew")

// OnReconnect calls do each time the connection was made anew, until stop. A server that was
// started again has lost the consumers in its memory, and says so to nobody.
func OnReconnect(nc *nats.Conn, do func()) (stop func()) {
	connected := nc.StatusChanged(nats.CONNECTED)
	go func() { // ends with stop, which closes the channel
		for range connected {
			do()
		}
	}()
	return sync.OnceFunc(func() { nc.RemoveStatusListener(connected) })
}
