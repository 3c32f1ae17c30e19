package migrations_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"pgregory.net/rapid"

	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/test/testenv"
)

func TestNames(t *testing.T) {
	for _, test := range []struct{ namespace, stream, prefix, bucket string }{
		{"", "LOG", "", "keys"},
		{"t1", "LOG_t1", "t1.", "keys_t1"},
	} {
		if got := migrations.StreamName(test.namespace); got != test.stream {
			t.Errorf("StreamName(%q) = %q, want %q", test.namespace, got, test.stream)
		}
		if got := migrations.SubjectPrefix(test.namespace); got != test.prefix {
			t.Errorf("SubjectPrefix(%q) = %q, want %q", test.namespace, got, test.prefix)
		}
		if got := migrations.KeysBucket(test.namespace); got != test.bucket {
			t.Errorf("KeysBucket(%q) = %q, want %q", test.namespace, got, test.bucket)
		}
	}
}

// No two namespaces share a stream, a bucket or a subject.
func TestNamespacesAreApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z0-9]{0,8}`)
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		if a == b {
			return
		}
		if migrations.StreamName(a) == migrations.StreamName(b) || migrations.KeysBucket(a) == migrations.KeysBucket(b) {
			t.Fatalf("%q and %q share a name", a, b)
		}
		for _, kind := range []string{"ev", "cmd", "set", "sig"} {
			first := func(ns string) string {
				token, _, _ := strings.Cut(migrations.SubjectPrefix(ns)+kind+".0", ".")
				return token
			}
			if first(a) == first(b) {
				t.Fatalf("%q and %q share the subjects of %s", a, b, first(a))
			}
		}
	})
}

func stream(t *testing.T, env *testenv.Broker) *jetstream.StreamInfo {
	t.Helper()
	s, err := env.JetStream.Stream(t.Context(), migrations.StreamName(env.Namespace))
	if err != nil {
		t.Fatal(err)
	}
	info, err := s.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func TestLogIsMadeAndKept(t *testing.T) {
	env := testenv.NewBroker(t) // made once
	before := stream(t, env)
	if got := strings.Join(before.Config.Subjects, " "); got != fmt.Sprintf("%[1]s.ev.> %[1]s.cmd.> %[1]s.set.> %[1]s.sig.> %[1]s.tick.> %[1]s.note.>", env.Namespace) {
		t.Errorf("subjects %s", got)
	}
	if c := before.Config; c.Discard != jetstream.DiscardNew || !c.DenyDelete || c.MaxAge != 0 || c.Storage != jetstream.FileStorage || c.Metadata["format"] != "1" {
		t.Errorf("configuration %+v", c)
	}
	if _, err := env.JetStream.Publish(t.Context(), env.Namespace+".ev.0", []byte("x")); err != nil {
		t.Fatal(err)
	}
	cfg := migrations.LogConfig{Namespace: env.Namespace, MaxBytes: before.Config.MaxBytes}
	for _, room := range []int64{cfg.MaxBytes, cfg.MaxBytes + 1<<20, cfg.MaxBytes / 2} {
		cfg.MaxBytes = room
		if err := migrations.Log(t.Context(), env.JetStream, cfg); err != nil {
			t.Fatalf("with %d bytes: %v", room, err)
		}
		after := stream(t, env)
		if after.Config.MaxBytes != room || after.State.LastSeq != 1 || !after.Created.Equal(before.Created) {
			t.Errorf("with %d bytes: limit %d, last message %d, made at %s, want the stream of %s", room, after.Config.MaxBytes, after.State.LastSeq, after.Created, before.Created)
		}
	}
	bucket, err := env.JetStream.KeyValue(t.Context(), migrations.KeysBucket(env.Namespace))
	if err != nil {
		t.Fatal(err)
	}
	status, err := bucket.Status(t.Context())
	if err != nil || status.History() != 5 {
		t.Errorf("the bucket keeps %d values, error %v, want 5", status.History(), err)
	}
}

// A subject that the log of an earlier version lacks is added, and nothing on the
// log is lost. An unknown subject is refused.
func TestSubjectIsAdded(t *testing.T) {
	env := testenv.NewBroker(t)
	before := stream(t, env).Config
	cfg := migrations.LogConfig{Namespace: env.Namespace, MaxBytes: before.MaxBytes}
	older := before
	older.Subjects = before.Subjects[:3]
	if _, err := env.JetStream.UpdateStream(t.Context(), older); err != nil {
		t.Fatal(err)
	}
	if _, err := env.JetStream.Publish(t.Context(), env.Namespace+".ev.0", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := migrations.Log(t.Context(), env.JetStream, cfg); err != nil {
		t.Fatal(err)
	}
	if after := stream(t, env); strings.Join(after.Config.Subjects, " ") != strings.Join(before.Subjects, " ") || after.State.LastSeq != 1 {
		t.Errorf("subjects %v, last message %d", after.Config.Subjects, after.State.LastSeq)
	}
	if ack, err := env.JetStream.Publish(t.Context(), env.Namespace+".sig.outcome", []byte("x")); err != nil || ack.Sequence != 2 {
		t.Errorf("a fact of the new subject: %+v, %v", ack, err)
	}
	newer := before
	newer.Subjects = append(slices.Clone(before.Subjects), env.Namespace+".other.>")
	if _, err := env.JetStream.UpdateStream(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	if err := migrations.Log(t.Context(), env.JetStream, cfg); err == nil || !strings.Contains(err.Error(), "other.>") {
		t.Errorf("with a subject of a newer version: %v, want an error that names it", err)
	}
}

// The limit of the server's store is set before that of the log. A lower one must
// not keep the log from being made smaller, or the service could not start.
func TestLogIsMadeSmallerOnASmallerStore(t *testing.T) {
	dir := t.TempDir()
	for _, room := range []int64{500 << 20, 50 << 20, 600 << 20} {
		n, err := engine.StartNATS(t.Context(), engine.NATSConfig{StoreDir: dir, MaxStore: room + 1<<30})
		if err != nil {
			t.Fatal(err)
		}
		err = migrations.Log(t.Context(), n.JetStream(), migrations.LogConfig{MaxBytes: room})
		if err := errors.Join(err, n.Stop(t.Context())); err != nil {
			t.Fatalf("with %d MiB: %v", room>>20, err)
		}
	}
}

func TestLogOfTooLittleRoomIsRefused(t *testing.T) {
	env := testenv.NewBroker(t)
	if _, err := env.JetStream.Publish(t.Context(), env.Namespace+".ev.0", make([]byte, 100_000)); err != nil {
		t.Fatal(err)
	}
	err := migrations.Log(t.Context(), env.JetStream, migrations.LogConfig{Namespace: env.Namespace, MaxBytes: 50_000})
	if err == nil || !strings.Contains(err.Error(), "raise the limit") {
		t.Errorf("error %v, want one that says what to do", err)
	}
}

// A full log refuses new messages and loses none; with more room it takes them
// again.
func TestFullLog(t *testing.T) {
	env := testenv.NewBroker(t)
	cfg := migrations.LogConfig{Namespace: env.Namespace, MaxBytes: 1 << 20}
	if err := migrations.Log(t.Context(), env.JetStream, cfg); err != nil {
		t.Fatal(err)
	}
	var accepted uint64
	for {
		_, err := env.JetStream.Publish(t.Context(), env.Namespace+".ev.0", make([]byte, 100_000))
		if err == nil {
			accepted++
			continue
		}
		var refusal *jetstream.APIError
		if !errors.As(err, &refusal) || refusal.Code != 503 {
			t.Fatalf("the full log answered %v, want a 503", err)
		}
		break
	}
	if state := stream(t, env).State; state.Msgs != accepted || state.FirstSeq != 1 || accepted == 0 {
		t.Errorf("the full log has %d messages from %d on, want all %d", state.Msgs, state.FirstSeq, accepted)
	}
	cfg.MaxBytes *= 2
	if err := migrations.Log(t.Context(), env.JetStream, cfg); err != nil {
		t.Fatal(err)
	}
	if _, err := env.JetStream.Publish(t.Context(), env.Namespace+".ev.0", make([]byte, 100_000)); err != nil {
		t.Errorf("with more room the log refuses: %v", err)
	}
}

func TestLogThatIsThereAndDifferent(t *testing.T) {
	good := func(env *testenv.Broker) jetstream.StreamConfig {
		prefix := migrations.SubjectPrefix(env.Namespace)
		return jetstream.StreamConfig{
			Name: migrations.StreamName(env.Namespace), Subjects: []string{prefix + "set.>", prefix + "cmd.>", prefix + "ev.>"},
			Discard: jetstream.DiscardNew, MaxBytes: 1 << 20, MaxMsgSize: 1 << 20, DenyDelete: true,
			Duplicates: 2 * time.Minute, AllowDirect: true, Metadata: map[string]string{"format": "1"},
		}
	}
	for name, test := range map[string]struct {
		change func(*jetstream.StreamConfig)
		want   string // "" for no error
	}{
		"same, in another order": {func(*jetstream.StreamConfig) {}, ""},
		"other description":      {func(c *jetstream.StreamConfig) { c.Description = "mine" }, ""},
		"later format":           {func(c *jetstream.StreamConfig) { c.Metadata["format"] = "2" }, "format is 2 and must be 1"},
		"no format":              {func(c *jetstream.StreamConfig) { c.Metadata = nil }, "format is  and must be 1"},
		"forgets old":            {func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardOld }, "discard"},
		"forgets by age":         {func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour }, "max_age"},
		"forgets by number":      {func(c *jetstream.StreamConfig) { c.MaxMsgs = 10 }, "max_msgs"},
		"forgets by subject":     {func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 1 }, "max_msgs_per_subject"},
		"forgets what was read":  {func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy }, "retention"},
		"in memory":              {func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage }, "storage"},
		"may lose one":           {func(c *jetstream.StreamConfig) { c.DenyDelete = false }, "deny_delete"},
		"smaller messages":       {func(c *jetstream.StreamConfig) { c.MaxMsgSize = 1000 }, "max_msg_size"},
		"another subject":        {func(c *jetstream.StreamConfig) { c.Subjects = append(c.Subjects, c.Name+".x.>") }, "subjects"},
		"compressed twice":       {func(c *jetstream.StreamConfig) { c.Compression = jetstream.S2Compression }, "compression"},
	} {
		t.Run(name, func(t *testing.T) {
			env := testenv.NewBroker(t)
			if err := env.JetStream.DeleteStream(t.Context(), migrations.StreamName(env.Namespace)); err != nil {
				t.Fatal(err)
			}
			cfg := good(env)
			test.change(&cfg)
			if _, err := env.JetStream.CreateStream(t.Context(), cfg); err != nil {
				t.Fatal(err)
			}
			err := migrations.Log(t.Context(), env.JetStream, migrations.LogConfig{Namespace: env.Namespace, MaxBytes: 1 << 20})
			if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), cfg.Name)) {
				t.Errorf("error %v, want one with %q that names the stream", err, test.want)
			}
		})
	}
}

func TestLogConfigNamesTheWrongField(t *testing.T) {
	env := testenv.NewBroker(t)
	for name, test := range map[string]struct {
		cfg  migrations.LogConfig
		want string
	}{
		"no limit":       {migrations.LogConfig{}, "MaxBytes"},
		"dot":            {migrations.LogConfig{Namespace: "a.b", MaxBytes: 1}, "Namespace"},
		"star":           {migrations.LogConfig{Namespace: "*", MaxBytes: 1}, "Namespace"},
		"upper case":     {migrations.LogConfig{Namespace: "A", MaxBytes: 1}, "Namespace"},
		"minus replicas": {migrations.LogConfig{MaxBytes: 1, Replicas: -1}, "Replicas"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := migrations.Log(t.Context(), env.JetStream, test.cfg); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one about %q", err, test.want)
			}
		})
	}
}

// TestAuditKeepsItsRoom: the room that an operator gave the audit trail stays after
// a start.
func TestAuditKeepsItsRoom(t *testing.T) {
	env := testenv.NewBroker(t)
	s, err := env.JetStream.Stream(t.Context(), migrations.AuditStream(env.Namespace))
	if err != nil {
		t.Fatal(err)
	}
	config := s.CachedInfo().Config
	config.MaxBytes += 1 << 20
	if _, err := env.JetStream.UpdateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	if err := migrations.Log(t.Context(), env.JetStream, migrations.LogConfig{Namespace: env.Namespace, MaxBytes: 1 << 28}); err != nil {
		t.Fatal(err)
	}
	if info, err := s.Info(t.Context()); err != nil || info.Config.MaxBytes != config.MaxBytes {
		t.Errorf("the room is %d, %v, want %d", info.Config.MaxBytes, err, config.MaxBytes)
	}
}

// TestServerOfTooLittleRoom: the log alone fits, the other streams do not.
func TestServerOfTooLittleRoom(t *testing.T) {
	const room = 64 << 20
	nats, err := engine.StartNATS(t.Context(), engine.NATSConfig{StoreDir: t.TempDir(), MaxStore: room, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := nats.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	err = migrations.Log(t.Context(), nats.JetStream(), migrations.LogConfig{MaxBytes: room})
	if err == nil || !strings.Contains(err.Error(), "max_file_store of 1 GiB more than log-max-bytes") {
		t.Errorf("a server of 64 MiB and a log of 64 MiB: %v", err)
	}
}
