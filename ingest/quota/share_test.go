package quota_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/native"
	"github.com/errata-log/errata/ingest/quota"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// readyKeys knows every token "PROJECT KEY".
type readyKeys struct{}

func (readyKeys) ByToken(token string) (g access.Grant, err error) {
	_, err = fmt.Sscanf(token, "%d %s", &g.Project, &g.KeyID)
	return g, err
}

func (readyKeys) ByPublicKey(string, uint64) (g access.Grant, err error) { return g, nil }

// heldLog is a real log that takes nothing before it is opened, and says what comes.
type heldLog struct {
	*eventlog.Appender
	came   chan uint64 // the project of each request
	opened chan struct{}
}

func (l *heldLog) Append(ctx context.Context, events []errata.Event) error {
	l.came <- events[0].Project
	<-l.opened
	return l.Appender.Append(ctx, events)
}

// newHeldLog is a log on a real NATS.
func newHeldLog(t *testing.T) (*heldLog, eventlog.Log) {
	t.Helper()
	env := testenv.NewBroker(t)
	log := eventlog.Log{
		NATS: env.NATS, JetStream: env.JetStream,
		Stream: migrations.StreamName(env.Namespace), Prefix: migrations.SubjectPrefix(env.Namespace),
	}
	appender, err := eventlog.NewAppender(eventlog.AppenderConfig{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = appender.Close(context.WithoutCancel(t.Context())) })
	return &heldLog{appender, make(chan uint64, 100), make(chan struct{})}, log
}

// TestAProjectWithManyKeysLeavesRoom: while the log is slow, four keys of a project
// have no more requests on their way to it than a project may, a request of another
// project gets there at once, and all events are on the log in the end.
func TestAProjectWithManyKeysLeavesRoom(t *testing.T) {
	held, log := newHeldLog(t)
	pipeline, err := ingest.New(ingest.Config{Log: held, Random: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	quotas, _ := newQuotas(t, quota.Config{KeyPerMinute: 60_000})
	receiver, err := native.New(native.Config{Accepter: pipeline, Keyring: readyKeys{}, Quotas: quotas})
	if err != nil {
		t.Fatal(err)
	}
	const keys, each, most = 4, 8, 8
	var done sync.WaitGroup
	send := func(token string) {
		done.Go(func() {
			r := httptest.NewRequest(http.MethodPost, "/api/v1/events", strings.NewReader(`{"message":"it broke"}`))
			r.Header.Set("X-Api-Key", token)
			w := httptest.NewRecorder()
			if receiver.ServeHTTP(w, r); w.Code != http.StatusAccepted {
				t.Errorf("%s: %d %s", token, w.Code, w.Body)
			}
		})
	}
	for n := range keys * each {
		send(fmt.Sprint("1 key", n%keys))
	}
	for range most {
		<-held.came
	}
	select {
	case <-held.came:
		t.Errorf("more than %d requests of a project are on their way to the log", most)
	case <-time.After(50 * time.Millisecond): // reason: only time shows that no request comes
	}
	send("2 other")
	if project := <-held.came; project != 2 {
		t.Errorf("a request of project %d came before that of the other project", project)
	}
	close(held.opened)
	done.Wait()
	if n := events(t, log); n != keys*each+1 {
		t.Errorf("%d events are on the log, want %d", n, keys*each+1)
	}
	if n := quotas.Lanes(); n != 0 {
		t.Errorf("%d lanes are left behind", n)
	}
}

// events counts the events on the log.
func events(t *testing.T, log eventlog.Log) (n int) {
	t.Helper()
	state, err := eventlog.Inspect(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := eventlog.NewReader(t.Context(), log, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for {
		f, err := reader.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		block, err := eventlog.DecodeBlock(f.Data, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n += block.Len(); f.Sequence == state.Last {
			return n
		}
	}
}
