package challenge_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/internal/bucket"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/signin/challenge"
	"github.com/errata-log/errata/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

var (
	start   = time.Date(2026, 11, 21, 3, 58, 25, 123e6, time.UTC)
	nowhere netip.Addr // not counted
)

// clock is a clock that stands until it is moved.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func secretOf(t testing.TB, b byte) *challenge.Secret {
	t.Helper()
	secret, err := challenge.NewSecret(bytes.Repeat([]byte{b}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// bench is a checker on buckets of its own, made as the service makes them.
type bench struct {
	*challenge.Checker
	clock                  *clock
	cfg                    challenge.Config
	challenges, enrolments jetstream.KeyValue
	// last is the account of the last call of mustIssue, and count their number.
	last  string
	count int
}

// mustIssue makes a challenge for an account of its own, bounded by no rate.
func (b *bench) mustIssue(t *testing.T) challenge.Issued {
	t.Helper()
	b.count++
	b.last = fmt.Sprint("guest ", b.count)
	return b.issue(t, b.last)
}

func newBench(t *testing.T) *bench {
	t.Helper()
	env := testenv.NewBroker(t)
	b := &bench{clock: &clock{at: start}}
	for name, bucket := range map[string]*jetstream.KeyValue{
		migrations.ChallengesBucket(env.Namespace): &b.challenges, migrations.EnrolmentsBucket(env.Namespace): &b.enrolments,
	} {
		var err error
		if *bucket, err = env.JetStream.KeyValue(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	b.cfg = challenge.Config{
		Challenges: bucket.KV(b.challenges), Enrolments: bucket.KV(b.enrolments),
		Secret: secretOf(t, 1), Now: b.clock.Now,
	}
	var err error
	if b.Checker, err = challenge.Open(t.Context(), b.cfg); err != nil {
		t.Fatal(err)
	}
	return b
}

// wrong is a code that is not the one given.
func wrong(code string) string {
	last := code[len(code)-1]
	return code[:len(code)-1] + string('0'+(last-'0'+1)%10)
}
