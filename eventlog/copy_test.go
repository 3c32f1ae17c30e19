package eventlog_test

import (
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/test/testenv"
)

// TestCopyRefused: when a copy cannot be read, the error says what to do about it.
func TestCopyRefused(t *testing.T) {
	url := testenv.ServeNATS(t, t.TempDir(), func(o *server.Options) {
		o.Users = []*server.User{
			{Username: "all", Password: "all"},
			{Username: "some", Password: "some", Permissions: &server.Permissions{
				Publish: &server.SubjectPermission{Allow: []string{"$JS.API.INFO", "$JS.API.STREAM.INFO.>"}},
			}},
		}
	})
	open := func(user, stream string) (eventlog.Copy, *nats.Conn) {
		js := testenv.DialJetStream(t, url, nats.UserInfo(user, user), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
		return eventlog.Copy{Log: eventlog.Log{NATS: js.Conn(), JetStream: js, Stream: stream}}, js.Conn()
	}
	want := func(err error, words ...string) {
		t.Helper()
		for _, word := range words {
			if err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("%v, want %q in it", err, word)
			}
		}
	}
	c, conn := open("all", "LOG")
	_, err := c.Created(t.Context())
	want(err, "no stream LOG", "on a copy of DATA/nats")
	if _, err := c.Log.JetStream.CreateStream(t.Context(), jetstream.StreamConfig{Name: "LOG", Subjects: []string{"ev.>"}}); err != nil {
		t.Fatal(err)
	}
	if _, there, err := c.Next(t.Context(), 1); there || err != nil {
		t.Errorf("an empty stream: %v, %v", there, err)
	}
	conn.Close()
	_, _, err = c.Next(t.Context(), 1)
	want(err, "is the server still up", "Nothing was changed")

	few, _ := open("some", "LOG")
	if _, err := few.Created(t.Context()); err != nil {
		t.Error(err)
	}
	_, _, err = few.Next(t.Context(), 1)
	want(err, "the user needs the right", "$JS.API.STREAM.MSG.GET.LOG")
}
