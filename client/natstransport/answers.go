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

// answers are the acknowledgements that are waited for. They come at the inbox
// of the connection's user, which package jetstream does not know of unless the
// whole connection has it.
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

// listen subscribes once; the connection does it again after it was lost.
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
	default: // it could not even be published
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

// parseAnswer reads the answer to an event. It returns nil when the event was
// stored: the answer then names the stream.
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
		return errors.New("the answer names no stream: something else than JetStream listens on the subject")
	}
	return nil
}

// inboxOf is where a connection with the options hears its answers: the prefix
// that it was given, else that of its user.
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
