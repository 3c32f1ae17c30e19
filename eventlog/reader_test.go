package eventlog_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/errata-log/errata/eventlog"
)

// A Reader asks for a heartbeat each second: the node of a cluster that answers it may die,
// and after two missed ones the Reader asks another one.
func TestAReaderNoticesThatNobodyAnswers(t *testing.T) {
	log := newLog(t).Log
	requests, err := log.NATS.SubscribeSync("$JS.API.CONSUMER.MSG.NEXT." + log.Stream + ".>")
	if err != nil {
		t.Fatal(err)
	}
	r, err := eventlog.NewReader(t.Context(), log, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	read := make(chan struct{})
	go func() { // ends with ctx
		defer close(read)
		_, _ = r.Next(ctx) // there is no fact
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
	if err := json.Unmarshal(request.Data, &asked); err != nil || asked.Heartbeat == 0 || asked.Heartbeat > time.Second {
		t.Errorf("the reader asked for a heartbeat each %v, %v", asked.Heartbeat, err)
	}
}
