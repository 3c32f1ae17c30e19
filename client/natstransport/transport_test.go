package natstransport_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/client"
	"github.com/errata-log/errata/client/natstransport"
	"github.com/errata-log/errata/test/testenv"
)

// never is much longer than any wait in these tests.
const never = 30 * time.Second

func TestMain(m *testing.M) { testenv.Main(m) }

// subject is used by no other test on a shared NATS.
func subject(env *testenv.Broker) string {
	return env.Namespace + "-client." + natstransport.DefaultSubject
}

func makeStream(t *testing.T, env *testenv.Broker) jetstream.Stream {
	t.Helper()
	stream, err := env.JetStream.CreateStream(t.Context(), jetstream.StreamConfig{
		Name: env.Namespace + "-door", Subjects: []string{subject(env) + ".system", subject(env) + ".database"}, MaxBytes: 16 << 20, MaxMsgSize: 64 << 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), never)
		defer cancel()
		if err := env.JetStream.DeleteStream(ctx, env.Namespace+"-door"); err != nil {
			t.Error(err)
		}
	})
	return stream
}

func newClient(t *testing.T, transport client.Transport, told func(error)) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{Transport: transport, MaxBackoff: 50 * time.Millisecond, OnError: told})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func closeIt(t *testing.T, c *client.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), never)
	defer cancel()
	if err := c.Close(ctx); err != nil {
		t.Error(err)
	}
}

// stored are the messages of a stream in order.
func stored(t *testing.T, stream jetstream.Stream) (all []*jetstream.RawStreamMsg) {
	t.Helper()
	info, err := stream.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for seq := info.State.FirstSeq; seq <= info.State.LastSeq && seq > 0; seq++ {
		msg, err := stream.GetMsg(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, msg)
	}
	return all
}

func TestEventsGoToTheSubjectOfTheirBook(t *testing.T) {
	env := testenv.NewBroker(t)
	stream := makeStream(t, env)
	transport, err := natstransport.New(env.NATS, natstransport.Options{Subject: subject(env), Header: nats.Header{"X-Project": {"7"}}})
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, transport, nil)
	ids := []string{
		c.Capture(t.Context(), errors.New("a")),
		c.Capture(t.Context(), errors.New("b"), client.WithType("database")),
		c.CaptureMessage(t.Context(), "c", client.WithType("system")),
	}
	closeIt(t, c)
	var got []string
	for i, msg := range stored(t, stream) {
		var event struct{ ID, Message string }
		if err := json.Unmarshal(msg.Data, &event); err != nil {
			t.Fatal(err)
		}
		book := strings.TrimPrefix(msg.Subject, subject(env)+".")
		got = append(got, event.Message+" "+book)
		if id := msg.Header.Get("Nats-Msg-Id"); id != ids[i] || id != event.ID || msg.Header.Get("X-Project") != "7" {
			t.Errorf("header %v of event %s", msg.Header, event.ID)
		}
	}
	if want := []string{"a system", "b database", "c system"}; !slices.Equal(got, want) {
		t.Errorf("stored %v, want %v", got, want)
	}
	neverTaken(t, env, stream)
}

// deaf is a transport whose acknowledgements are lost the first time.
type deaf struct {
	*natstransport.Transport
	tries int
}

func (d *deaf) Send(ctx context.Context, batch []client.Message) ([]client.Refusal, error) {
	refused, err := d.Transport.Send(ctx, batch)
	if d.tries++; d.tries == 1 {
		return nil, errors.New("the acknowledgement was lost")
	}
	return refused, err
}

func TestNothingIsLostOrDoubled(t *testing.T) {
	env := testenv.NewBroker(t)
	transport, err := natstransport.New(env.NATS, natstransport.Options{Subject: subject(env)})
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 100)
	c := newClient(t, &deaf{Transport: transport}, func(err error) {
		select {
		case failed <- err:
		default:
		}
	})
	for i := range 150 {
		c.Capture(t.Context(), fmt.Errorf("error %d", i))
	}
	<-failed // no stream has the subjects yet
	stream := makeStream(t, env)
	for drained := false; !drained; {
		select {
		case <-failed:
		default:
			drained = true
		}
	}
	closeIt(t, c)
	ids := map[string]bool{}
	for _, msg := range stored(t, stream) {
		ids[msg.Header.Get("Nats-Msg-Id")] = true
	}
	if all := len(stored(t, stream)); all != 150 || len(ids) != 150 || c.Stats().Sent != 150 || c.Stats().Retries == 0 {
		t.Errorf("%d messages, %d different, %+v", all, len(ids), c.Stats())
	}
	aRestartOfNATSLosesNothing(t, env, stream)
}

func aRestartOfNATSLosesNothing(t *testing.T, env *testenv.Broker, stream jetstream.Stream) {
	t.Helper()
	before := len(stored(t, stream))
	if !env.Embedded() {
		t.Log("NATS is external and cannot be restarted; only sending is tested")
	}
	transport, err := natstransport.New(env.NATS, natstransport.Options{Subject: subject(env)})
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, transport, nil)
	for i := range 100 {
		c.Capture(t.Context(), fmt.Errorf("error %d", i))
		if i == 50 && env.Embedded() {
			env.RestartNATS()
		}
	}
	closeIt(t, c)
	if all := len(stored(t, stream)) - before; all != 100 || c.Stats().Sent != 100 {
		t.Errorf("%d messages, %+v", all, c.Stats())
	}
}

func neverTaken(t *testing.T, env *testenv.Broker, stream jetstream.Stream) {
	t.Helper()
	before := len(stored(t, stream))
	transport, err := natstransport.New(env.NATS, natstransport.Options{Subject: subject(env)})
	if err != nil {
		t.Fatal(err)
	}
	batch := []client.Message{{ID: "a", Body: []byte("{}")}, {ID: "b", Body: make([]byte, env.NATS.MaxPayload()+1)}, {ID: "c", Body: make([]byte, 64<<10)}}
	refused, err := transport.Send(t.Context(), batch)
	if err != nil || len(refused) != 2 || refused[0].Index != 1 || refused[0].Passing || refused[1].Index != 2 || refused[1].Passing || len(stored(t, stream)) != before+1 {
		t.Errorf("refused %+v, %v", refused, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := transport.Send(ended, []client.Message{{ID: "c", Body: []byte("{}")}}); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := transport.Close(t.Context()); err != nil {
		t.Error(err)
	}
	heard, err := env.NATS.SubscribeSync(natstransport.DefaultSubject + ".database")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := natstransport.New(env.NATS, natstransport.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = plain.Send(ended, []client.Message{{ID: "d", Book: "database", Body: []byte("{}")}}) // it may be taken or not
	if msg, err := heard.NextMsg(never); err != nil || msg.Header.Get("Nats-Msg-Id") != "d" {
		t.Errorf("on the subjects by default: %+v, %v", msg, err)
	}
	if err := errors.Join(heard.Unsubscribe(), plain.Close(t.Context())); err != nil {
		t.Error(err)
	}
	if _, err := natstransport.New(nil, natstransport.Options{}); err == nil {
		t.Error("no connection is an error")
	}
}
