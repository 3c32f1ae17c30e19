package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/feed"
	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/query"
)

// Feed tells what changes in the records.
type Feed interface {
	// Listen begins to listen to changes of the projects. Errors: store_unavailable.
	Listen(ctx context.Context, among query.Projects) (feed.Listener, error)
}

const (
	// maxStreams bounds the streams of one node. Each has a connection and
	// about 100 KB of changes that are not sent yet.
	maxStreams = 64
	// streamRetry is the Retry-After where there are too many streams.
	streamRetry = 15 * time.Second
	// streamGap is the least time between two messages: four a second are more
	// than anybody reads.
	streamGap = 250 * time.Millisecond
	// streamWrite bounds the write of one message. A client that is gone or too
	// slow loses its stream and may open a new one.
	streamWrite = 15 * time.Second
)

// streamHeartbeat keeps proxies from closing a quiet stream, which common ones
// do after 60 s. Only tests change it.
var streamHeartbeat = 15 * time.Second

const (
	// streamCheck is how often the key is checked: a stream ends within a
	// second after its key.
	streamCheck = 250 * time.Millisecond
	// streamEnd bounds a write that is under way when the key ends.
	streamEnd = 250 * time.Millisecond
)

// streams counts the open streams. A key may have as many as are left for all
// others, so that one key cannot take them all.
type streams struct {
	mu    sync.Mutex
	open  int
	byKey map[string]int // by the key's id
}

// begin counts a new stream of the key. The error has kind rate_limited.
func (s *streams) begin(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch left := maxStreams - s.open; {
	case left == 0:
		return tooMany(streamRetry, fmt.Sprintf("There are %d streams open, which is as many as this service keeps.", maxStreams))
	case s.byKey[key] >= left:
		return tooMany(streamRetry, fmt.Sprintf("This key has %d streams open, which is its share; the others are for other keys.", s.byKey[key]))
	}
	if s.byKey == nil {
		s.byKey = map[string]int{}
	}
	s.open++
	s.byKey[key]++
	return nil
}

func (s *streams) end(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.byKey[key]--; s.byKey[key] == 0 {
		delete(s.byKey, key)
	}
}

type helloJSON struct {
	Position uint64 `json:"position"`
}

type changesJSON struct {
	Records []recordJSON `json:"records"`
	More    uint64       `json:"more"`
	Gone    []goneJSON   `json:"gone"`
	Changed uint64       `json:"total_changed"`
}

type goneJSON struct {
	Type      string `json:"type"`
	Signature string `json:"signature"`
}

func (s *service) changesOf(c feed.Changes) changesJSON {
	return changesJSON{
		Records: mapped(c.Records, s.recordOf()), More: c.More, Changed: c.More + uint64(len(c.Records)),
		Gone: mapped(c.Gone, func(k *errata.RecordKey) goneJSON { return goneJSON{k.Book.String(), k.Signature.String()} }),
	}
}

// streamErrors sends changes for as long as the caller listens. It is the only
// route whose answer does not end by itself.
func (s *service) streamErrors(c *call) (answer, error) {
	if s.Feed == nil {
		return notImplemented(c)
	}
	if c.Request.Method == http.MethodHead {
		return answer{raw: http.HandlerFunc(streamHeaders)}, nil
	}
	among, err := c.among()
	if err != nil {
		return answer{}, err
	}
	key := c.key.ID
	if err := s.streams.begin(key); err != nil {
		return answer{}, err
	}
	listener, err := s.Feed.Listen(c.Request.Context(), among)
	if err != nil {
		s.streams.end(key)
		return answer{}, err
	}
	return answer{raw: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.streams.end(key)
		defer listener.Close()
		streamHeaders(w, r)
		stream{c: c, listener: listener, control: http.NewResponseController(inner(w))}.run(r.Context())
	})}, nil
}

// inner is the writer inside Gin's. Gin's own Flush panics when that writer is
// no http.Flusher.
func inner(w http.ResponseWriter) http.ResponseWriter {
	if wrapped, ok := w.(interface{ Unwrap() http.ResponseWriter }); ok {
		return wrapped.Unwrap()
	}
	return w
}

// streamHeaders begins the answer. X-Accel-Buffering keeps nginx from holding
// messages back.
func streamHeaders(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
}

// stream is one listener with its connection.
type stream struct {
	c        *call
	listener feed.Listener
	control  *http.ResponseController
}

// run writes until the caller goes away, its key stops working, or the service
// stops.
func (s stream) run(ctx context.Context) {
	var watching sync.WaitGroup
	defer watching.Wait()
	ctx, end := context.WithCancel(ctx)
	defer end()
	key := bearer(s.c)
	watching.Go(func() { s.watch(ctx, key, end) })
	// The server's deadline for reading a request would end the stream. This
	// fails only without a connection, as in tests.
	_ = s.control.SetReadDeadline(time.Time{})
	if !s.send(ctx, "hello", helloJSON{s.listener.Position()}) {
		return
	}
	heartbeat := time.NewTicker(streamHeartbeat)
	defer heartbeat.Stop()
	ready := s.listener.Ready()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.listener.Done():
			return
		case <-heartbeat.C:
			if !s.write(ctx, ": \n\n") {
				return
			}
		case <-ready:
			if !s.send(ctx, "records", s.c.service.changesOf(s.listener.Take())) {
				return
			}
			ready = nil // changes until then make one message
			pause.Reset(streamGap)
		case <-pause.C:
			ready = s.listener.Ready()
		}
	}
}

// watch ends the stream with its key, also while a message waits for a client
// that does not read.
func (s stream) watch(ctx context.Context, key string, end context.CancelFunc) {
	for background.Wait(ctx, streamCheck) {
		if _, err := s.c.service.Keys.Authenticate(key); err != nil {
			end()
			_ = s.control.SetWriteDeadline(time.Now().Add(streamEnd))
			return
		}
	}
}

// send writes one message, and returns false when the client is gone. JSON has
// no line breaks.
func (s stream) send(ctx context.Context, event string, data any) bool {
	text, err := json.Marshal(data)
	if err != nil {
		s.c.service.Logger.ErrorContext(ctx, "a message of the stream cannot be encoded", "error", err)
		return false
	}
	return s.write(ctx, "event: "+event+"\ndata: "+string(text)+"\n\n")
}

func (s stream) write(ctx context.Context, text string) bool {
	// It replaces the server's deadline for the whole answer. Deadlines of
	// sockets follow the system's clock.
	_ = s.control.SetWriteDeadline(time.Now().Add(streamWrite))
	if ctx.Err() != nil { // the key ended, perhaps before this deadline was set
		return false
	}
	if _, err := s.c.Writer.WriteString(text); err != nil {
		return false
	}
	return s.control.Flush() == nil
}
