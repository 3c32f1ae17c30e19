package natstransport

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// answers are the acknowledgements that Send waits for. They come to the inbox of
// the connection's user. Package jetstream can use that inbox only if the whole
// connection does.
type answers struct {
	inbox string // with a dot at its end

	mu      sync.Mutex
	sub     *nats.Subscription
	next    uint64
	waiting map[string]*wait // by the subject of the answer
}

// wait is one message whose acknowledgement is waited for.
type wait struct {
	subject string
	answer  chan error // gets one, nil for an acknowledgement
}

func newAnswers(inbox string) answers {
	return answers{inbox: inbox + "." + nuid.Next() + ".", waiting: map[string]*wait{}}
}

// listen subscribes once. The connection subscribes again when it reconnects.
func (a *answers) listen(conn *nats.Conn) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sub != nil {
		return nil
	}
	sub, err := conn.Subscribe(a.inbox+"*", a.heard)
	if err == nil {
		a.sub = sub
	}
	return err
}

func (a *answers) expect() *wait {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next++
	w := &wait{subject: a.inbox + strconv.FormatUint(a.next, 36), answer: make(chan error, 1)}
	a.waiting[w.subject] = w
	return w
}

func (a *answers) forget(w *wait) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, w.subject)
}

func (a *answers) heard(msg *nats.Msg) {
	a.mu.Lock()
	w := a.waiting[msg.Subject]
	delete(a.waiting, msg.Subject)
	a.mu.Unlock()
	if w == nil {
		return // it came too late
	}
	select {
	case w.answer <- parseAnswer(msg):
	default: // publishing failed, and the wait has that error
	}
}

func (a *answers) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sub == nil {
		return nil
	}
	err := a.sub.Unsubscribe()
	a.sub = nil
	if err != nil && !errors.Is(err, nats.ErrConnectionClosed) && !errors.Is(err, nats.ErrBadSubscription) {
		return fmt.Errorf("stop listening for acknowledgements: %w", err)
	}
	return nil
}

// parseAnswer reads the answer to an event. It returns nil when the event is
// stored: then the answer names the stream.
func parseAnswer(msg *nats.Msg) error {
	if msg.Header.Get("Status") == "503" {
		return nats.ErrNoResponders
	}
	var answer struct {
		Error  *jetstream.APIError `json:"error"`
		Stream string              `json:"stream"`
		Seq    uint64              `json:"seq"`
	}
	if err := json.Unmarshal(msg.Data, &answer); err != nil {
		return fmt.Errorf("read an acknowledgement: %w", err)
	}
	switch {
	case answer.Error != nil:
		return answer.Error
	case answer.Stream == "" || answer.Seq == 0:
		return errors.New("the answer names no stream: something other than JetStream answers on the subject")
	}
	return nil
}

// inboxOf is the inbox of a connection with the options: the prefix in the
// options, else that of the user.
func inboxOf(o *nats.Options) string {
	if o.InboxPrefix != "" {
		return o.InboxPrefix
	}
	if o.User != "" {
		return Inbox(o.User)
	}
	for _, address := range append(strings.Split(o.Url, ","), o.Servers...) {
		if user := userIn(address); user != "" {
			return Inbox(user)
		}
	}
	return Inbox("")
}
