package ordered

import (
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// pullExpiry is the time after which a reader asks for messages again.
	pullExpiry = 10 * time.Second
	// inCluster is the time between two heartbeats of a cluster that has no messages. After two
	// missed heartbeats the node that has the consumer is gone, or frozen.
	inCluster = time.Second
	// elsewhere is the same time for a stream of another domain. Its server may be gone while the
	// connection stays.
	elsewhere = pullExpiry / 2
	// pullAlone and alone are the two times for one server without a cluster. They are longer,
	// because an idle service wakes up for each heartbeat and each request. When that server is
	// gone, the connection is gone too. Heartbeats only find a consumer that stands still, which
	// happens in a damaged log.
	pullAlone = 30 * time.Second
	alone     = 10 * time.Second
)

// Pull returns for how long a reader asks for messages, and the time between two heartbeats. The
// server sends them while there are no messages.
func Pull(js jetstream.JetStream) (jetstream.PullExpiry, jetstream.PullHeartbeat) {
	switch {
	case js.Conn().ConnectedClusterName() != "":
		return jetstream.PullExpiry(pullExpiry), jetstream.PullHeartbeat(inCluster)
	case js.Options().Domain != "":
		return jetstream.PullExpiry(pullExpiry), jetstream.PullHeartbeat(elsewhere)
	default:
		return jetstream.PullExpiry(pullAlone), jetstream.PullHeartbeat(alone)
	}
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
