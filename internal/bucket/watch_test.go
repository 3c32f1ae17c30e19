package bucket_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/errata-log/errata/internal/bucket"
	"github.com/errata-log/errata/test/testenv"
)

// TestEndedWatchLeavesNothing: more entries come than the channel of a watch holds, and
// whoever watches reads one of them.
func TestEndedWatchLeavesNothing(t *testing.T) {
	js := testenv.DialJetStream(t, testenv.ServeNATS(t, t.TempDir()))
	kv, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "many", Storage: jetstream.MemoryStorage})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2000 {
		if _, err := js.PublishAsync("$KV.many."+fmt.Sprint(i), []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	<-js.PublishAsyncComplete()
	before := goleak.IgnoreCurrent()
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		w, err := kv.WatchAll(ctx)
		if err != nil {
			t.Fatal(err)
		}
		<-w.Updates()
		bucket.EndWatch(w, cancel)
	}
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}
}
