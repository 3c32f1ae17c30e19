package familiar_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/internal/bucket"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/signin"
	"github.com/errata-log/errata/signin/familiar"
)

// bucketOf is the bucket on a NATS of the test's own, made as the service makes
// it.
func bucketOf(t testing.TB) (jetstream.JetStream, jetstream.KeyValue) {
	t.Helper()
	n, err := engine.StartNATS(t.Context(), engine.NATSConfig{StoreDir: t.TempDir(), MaxStore: 2 << 30, LazySync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := n.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	if err := migrations.Log(t.Context(), n.JetStream(), migrations.LogConfig{MaxBytes: 64 << 20}); err != nil {
		t.Fatal(err)
	}
	places, err := n.JetStream().KeyValue(t.Context(), migrations.FamiliarBucket(""))
	if err != nil {
		t.Fatal(err)
	}
	return n.JetStream(), places
}

// TestBucket: nodes that apply to one account at the same time lose nothing,
// and the bucket keeps accounts for longer than an entry counts.
func TestBucket(t *testing.T) {
	_, places := bucketOf(t)
	status, err := places.Status(t.Context())
	if err != nil || status.TTL() <= familiar.MaxDays*24*time.Hour {
		t.Errorf("the bucket forgets after %s, %v", status.TTL(), err)
	}
	m := newMemory(t, bucket.KV(places), 180)
	ada := familiar.Key(signin.Client, "ada")
	if known, err := m.Known(t.Context(), ada); err != nil || len(known.Addresses)+len(known.Places) != 0 {
		t.Fatalf("known of a stranger: %+v, %v", known, err)
	}
	const nodes = 12
	var all sync.WaitGroup
	for n := range nodes {
		all.Go(func() { // ends by itself
			if err := m.Apply(t.Context(), uint64(n+1), outcome("ada", start, n, "DE")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	known, err := m.Known(t.Context(), ada)
	if err != nil || len(known.Addresses) != nodes || len(known.Places) != 1 {
		t.Errorf("known %+v, %v", known, err)
	}
}

// fill puts accounts that are known by two addresses and a place.
func fill(b *testing.B, js jetstream.JetStream, count int) {
	b.Helper()
	var state familiar.State
	for n := range 2 {
		state = state.Apply(uint64(n+1), outcome("", start, n, "DE"), 180)
	}
	data, err := json.Marshal(state)
	if err != nil {
		b.Fatal(err)
	}
	for n := range count {
		if _, err := js.PublishAsync("$KV."+migrations.FamiliarBucket("")+"."+familiar.Key(signin.Client, fmt.Sprint(n)), data); err != nil {
			b.Fatal(err)
		}
	}
	<-js.PublishAsyncComplete()
}

// accounts is how many are in the bucket of the benchmark.
const accounts = 1_000_000

// BenchmarkEvaluate reads what is known of one of many accounts and decides.
func BenchmarkEvaluate(b *testing.B) {
	for _, count := range []int{accounts / 10, accounts} {
		b.Run(fmt.Sprint(count), func(b *testing.B) { benchmarkEvaluate(b, count) })
	}
}

func benchmarkEvaluate(b *testing.B, count int) {
	js, places := bucketOf(b)
	fill(b, js, count)
	m := newMemory(b, bucket.KV(places), 180)
	settings, modules := signin.Standard(), signin.BuiltIn(true, signin.LocationModule{Key: "mmdb", Country: true})
	settings.Localization.IPModule = "mmdb"
	settings.Location.Client.Status, settings.Addresses.Client.Status = true, true
	took := make([]time.Duration, 0, b.N)
	i := 0
	for b.Loop() {
		began := time.Now()
		name := fmt.Sprint(i * 7919 % count)
		known, err := m.Known(b.Context(), familiar.Key(signin.Client, name))
		if err != nil {
			b.Fatal(err)
		}
		d := signin.Decide(signin.Request{
			Side: signin.Client, Address: address(i % 250), KnownAddresses: known.Addresses,
			Place: signin.Place{Country: "DE"}, KnownPlaces: known.Places,
		}, settings, modules)
		if len(known.Addresses) != 2 || len(d.Warnings) != 0 {
			b.Fatalf("account %s: known %+v, decided %+v", name, known, d)
		}
		took = append(took, time.Since(began))
		i++
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	status, err := places.Status(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(status.Bytes())/float64(count), "B/account")
}
