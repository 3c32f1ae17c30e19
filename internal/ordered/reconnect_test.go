package ordered_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	nserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/internal/ordered"
	"github.com/errata-log/errata/test/testenv"
)

// A node of a cluster may die while the connection is to another one, so its readers want to hear
// from it each second. When a server without a cluster dies, the connection ends too. A server of
// another domain may die while the connection stays.
func TestHeartbeats(t *testing.T) {
	for name, c := range map[string]struct {
		cluster, domain string
		want            time.Duration
	}{
		"alone":             {want: 10 * time.Second},
		"in a cluster":      {cluster: "C", want: time.Second},
		"of another domain": {domain: "D", want: 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			js := testenv.DialJetStream(t, testenv.ServeNATS(t, t.TempDir(), func(o *nserver.Options) { o.Cluster.Name, o.JetStreamDomain = c.cluster, c.domain }))
			if c.domain != "" {
				var err error
				if js, err = jetstream.NewWithDomain(js.Conn(), c.domain); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: stream}); err != nil {
				t.Fatal(err)
			}
			requests, err := js.Conn().SubscribeSync(jetstream.DefaultAPIPrefix + "CONSUMER.MSG.NEXT." + stream + ".>") // a server maps its domain to it
			if err != nil {
				t.Fatal(err)
			}
			r, err := ordered.Open(t.Context(), ordered.Config{JetStream: js, Stream: stream})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Stop()
			ctx, cancel := context.WithCancel(t.Context())
			read := make(chan struct{})
			go func() { // ends with ctx
				defer close(read)
				_, _, _ = r.Next(ctx) // there is no message
			}()
			request, err := requests.NextMsg(10 * time.Second)
			cancel()
			<-read
			if err != nil {
				t.Fatal(err)
			}
			var asked struct {
				Heartbeat time.Duration `json:"idle_heartbeat"`
			}
			if err := json.Unmarshal(request.Data, &asked); err != nil || asked.Heartbeat != c.want {
				t.Errorf("the reader asked for a heartbeat each %v, %v, want %v", asked.Heartbeat, err, c.want)
			}
		})
	}
}
