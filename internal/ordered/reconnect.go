package ordered

import (
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// PullExpiry is the time after which a reader asks for messages again.
	PullExpiry = 10 * time.Second
	// inCluster is the time between two heartbeats of a cluster that has no messages. After two
	// missed heartbeats the node that has the consumer is gone, or frozen.
	inCluster = time.Second
	// alone is the same time for one server without a cluster. When that server is gone, the
	// connection is gone too. With a heartbeat each second, a third of the wake-ups of an idle
	// service were for heartbeats.
	alone = PullExpiry / 2
)

// Heartbeat is the time between two heartbeats that a reader asks for. The server sends them while
// there are no messages.
func Heartbeat(nc *nats.Conn) time.Duration {
	if nc.ConnectedClusterName() == "" {
		return alone
	}
	return inCluster
}

// ErrReconnected says that the connection was made anew, so that another consumer is needed.
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
