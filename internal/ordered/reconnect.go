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
	// elsewhere is the same time for a stream of another domain, to which the way may be gone
	// while the connection is there.
	elsewhere = pullExpiry / 2
	// alone and pullAlone are the same times for one server without a cluster. When that server is
	// gone, the connection is gone too; a consumer that stands still is rare. With the shorter times,
	// a third of the wake-ups of an idle service were for heartbeats and new requests.
	pullAlone = 30 * time.Second
	alone     = 10 * time.Second
)

// Pull is for how long a reader asks for messages, and the time between two heartbeats, which the
// server sends while there are none.
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
