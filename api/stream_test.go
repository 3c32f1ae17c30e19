package api_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/feed"
	"github.com/errata-log/errata/query"
)

const streamPath = "/api/v1/admin/tools/logs/errors/stream"

// changeFeed is a feed whose changes the test sends. When it has ended, every
// stream ends after its hello.
type changeFeed struct {
	err    error
	ended  chan struct{}
	ready  chan struct{}
	taken  chan struct{}  // gets one for each Take
	closed chan struct{}  // gets one for each listener that was closed
	among  query.Projects // of the last listener

	mu      sync.Mutex
	changes feed.Changes
}

func newChangeFeed() *changeFeed {
	f := &changeFeed{ended: make(chan struct{}), ready: make(chan struct{}, 1), closed: make(chan struct{}, 100), taken: make(chan struct{}, 100)}
	close(f.ended)
	return f
}

func (f *changeFeed) Listen(_ context.Context, among query.Projects) (feed.Listener, error) {
	f.among = among
	return f, f.err
}
func (f *changeFeed) Position() uint64       { return 41 }
func (f *changeFeed) Ready() <-chan struct{} { return f.ready }
func (f *changeFeed) Done() <-chan struct{}  { return f.ended }
func (f *changeFeed) Close()                 { f.closed <- struct{}{} }

func (f *changeFeed) Take() feed.Changes {
	f.taken <- struct{}{}
	f.mu.Lock()
	defer f.mu.Unlock()
	taken := f.changes
	f.changes = feed.Changes{}
	return taken
}

func (f *changeFeed) tell(c feed.Changes) {
	f.mu.Lock()
	f.changes = c
	f.mu.Unlock()
	f.ready <- struct{}{}
}

// served is the API behind a real server, for streams need a connection.
func served(t *testing.T, b *bench) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(b.handler)
	// As short as can be: a stream must not end with it.
	server.Config.ReadTimeout, server.Config.WriteTimeout = 300*time.Millisecond, 300*time.Millisecond
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// open begins a stream and returns its lines.
func open(t *testing.T, server *httptest.Server, key string) (*http.Response, *bufio.Reader) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+streamPath, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp, bufio.NewReader(resp.Body)
}

// message reads up to the next empty line.
func message(t *testing.T, lines *bufio.Reader) string {
	t.Helper()
	var text strings.Builder
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ended: %v after %q", err, text.String())
		}
		if line == "\n" {
			return text.String()
		}
		text.WriteString(line)
	}
}

func TestStream(t *testing.T) {
	b := newBench(t, nil)
	b.feed.ended = make(chan struct{})
	key := b.key(t, access.ToolsGetErrorLogs)
	server := served(t, b)
	resp, lines := open(t, server, key)
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no", "Content-Encoding": "", "X-Content-Type-Options": "nosniff", "X-Errata-Position": "7",
	} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := message(t, lines); got != "event: hello\ndata: {\"position\":41}\n" {
		t.Errorf("it begins with %q", got)
	}
	b.feed.tell(feed.Changes{More: 3, Gone: []errata.RecordKey{{Book: errata.BookDatabase, Signature: sample(t).Signature}}})
	const gone = "event: records\ndata: {\"records\":[],\"more\":3,\"gone\":[{\"type\":\"database\",\"signature\":\"00112233445566778899aabbccddeeff\"}],\"total_changed\":3}\n"
	began := time.Now()
	if got := message(t, lines); got != gone {
		t.Errorf("got %q", got)
	}
	b.feed.tell(feed.Changes{Records: []errata.Record{sample(t)}, More: 1})
	got := message(t, lines)
	if !strings.HasPrefix(got, `event: records`+"\n"+`data: {"records":[{"id":8796093022215,"signature":"00112233445566778899aabbccddeeff",`) ||
		!strings.HasSuffix(got, `}],"more":1,"gone":[],"total_changed":2}`+"\n") || strings.Count(got, "\n") != 2 {
		t.Errorf("got %q", got)
	}
	if took := time.Since(began); took < 240*time.Millisecond {
		t.Errorf("two messages within %v, want at most four a second", took)
	}
	for range 3 { // beyond the server's own limits
		b.feed.tell(feed.Changes{More: 1})
		message(t, lines)
	}
	close(b.feed.ended) // the service stops
	if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 {
		t.Errorf("the end is %q, %v", rest, err)
	}
	<-b.feed.closed
}

func TestStreamHasHeartbeats(t *testing.T) {
	api.SetStreamHeartbeat(t, 20*time.Millisecond)
	b := newBench(t, nil)
	b.feed.ended = make(chan struct{})
	_, lines := open(t, served(t, b), b.key(t, access.ToolsGetErrorLogs))
	message(t, lines)
	for range 3 {
		if got := message(t, lines); got != ": \n" {
			t.Errorf("a heartbeat is %q", got)
		}
	}
	close(b.feed.ended)
	<-b.feed.closed
}

// endsSoon fails when the stream outlives its key by too long: more than a busy
// machine needs, and less than a heartbeat.
func endsSoon(t *testing.T, ended <-chan struct{}) {
	t.Helper()
	select {
	case <-ended:
	case <-time.After(8 * time.Second):
		t.Fatal("the stream goes on without its key")
	}
}

// The heartbeat is the usual one, 15 s: streams end long before it.
func TestStreamEndsWithItsKey(t *testing.T) {
	b := newBench(t, nil)
	b.feed.ended = make(chan struct{})
	key, text := b.create(t, access.NewKey{Kind: access.KindAdmin, Scopes: []access.Scope{"Tools/*"}})
	_, expiring := b.create(t, access.NewKey{Kind: access.KindAdmin, Scopes: []access.Scope{"Tools/*"}, ExpiresAt: start.Add(time.Hour)})
	server := served(t, b)
	_, revoked := open(t, server, text)
	_, expired := open(t, server, expiring)
	message(t, revoked)
	message(t, expired)
	if err := b.keys.Revoke(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	endsSoon(t, b.feed.closed)
	if rest, err := io.ReadAll(revoked); err != nil || len(rest) > 0 {
		t.Errorf("the end is %q, %v", rest, err)
	}
	b.clock.Move(2 * time.Hour)
	endsSoon(t, b.feed.closed)
	if rest, err := io.ReadAll(expired); err != nil || len(rest) > 0 {
		t.Errorf("the end is %q, %v", rest, err)
	}
}

// TestUnreadStreamEndsWithItsKey: a client that does not read cannot keep a
// stream open after its key.
func TestUnreadStreamEndsWithItsKey(t *testing.T) {
	b := newBench(t, nil)
	b.feed.ended = make(chan struct{})
	key, text := b.create(t, access.NewKey{Kind: access.KindAdmin, Scopes: []access.Scope{"Tools/*"}})
	server := httptest.NewUnstartedServer(b.handler)
	server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if err := c.(*net.TCPConn).SetWriteBuffer(4 << 10); err != nil {
			t.Error(err)
		}
		return ctx
	}
	server.Start()
	t.Cleanup(server.Close)
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET "+streamPath+" HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+text+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	large := sample(t)
	large.Message = strings.Repeat("x", 32<<20) // more than sockets hold
	b.feed.tell(feed.Changes{Records: []errata.Record{large}})
	<-b.feed.taken
	if err := b.keys.Revoke(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	endsSoon(t, b.feed.closed)
}

func TestStreamsAreBounded(t *testing.T) {
	b := newBench(t, nil)
	b.feed.ended = make(chan struct{})
	server := served(t, b)
	var key string
	var last *http.Response
	// Each key gets at most as many streams as are left for others, so that a
	// new key always gets some.
	for left := api.MaxStreams; left > 0; {
		key = b.key(t, access.ToolsGetErrorLogs)
		share := max(left/2, 1)
		for range share {
			resp, lines := open(t, server, key)
			message(t, lines)
			last = resp
		}
		left -= share
		refused, _ := open(t, server, key)
		if refused.StatusCode != http.StatusTooManyRequests || refused.Header.Get("Retry-After") != "15" {
			t.Errorf("one too many: %d %v", refused.StatusCode, refused.Header)
		}
	}
	if refused, _ := open(t, server, b.key(t, access.ToolsGetErrorLogs)); refused.StatusCode != http.StatusTooManyRequests {
		t.Errorf("with no place left: %d", refused.StatusCode)
	}
	if err := last.Body.Close(); err != nil {
		t.Fatal(err)
	}
	<-b.feed.closed // the place is free once this one's handler has returned
	b.feed.err = errata.Errorf(errata.KindStoreUnavailable, "The records do not answer.")
	for range 3 { // streams that are refused do not count
		if resp, _ := open(t, server, key); resp.StatusCode == http.StatusOK {
			t.Error("listens to what does not answer")
		}
	}
	close(b.feed.ended)
}

func TestNoFeedNoStream(t *testing.T) {
	b := newBench(t, func(c *api.Config) {
		withReceivers(c) // the document is of a service that has everything
		c.Feed = nil
	})
	if w := b.do(request{method: "GET", target: streamPath, key: b.key(t, access.ToolsGetErrorLogs)}); code(t, w) != "not_implemented" {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}
