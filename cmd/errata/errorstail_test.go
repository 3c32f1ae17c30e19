package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/internal/background"
)

const helloMessage = "event: hello\ndata: {\"position\":1}\n\n"

// recordsMessage is a message with both records, the newest change first.
func recordsMessage() string {
	return "event: records\ndata: {\"records\":[" + fmt.Sprintf(errorRows, "", "") + `],"more":3,"gone":[{"type":"system","signature":"` + orderSignature + `"}],"total_changed":5}` + "\n\n"
}

// tailService sends what each connection is to get, and then ends it; the last one stays
// open. It notes what it is asked.
func tailService(t *testing.T, connections ...string) (at []string, asked *[]string) {
	t.Helper()
	asked = new([]string)
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.URL.Path+" "+r.URL.Query().Encode()) // one connection at a time
		if !strings.HasSuffix(r.URL.Path, "/stream") {
			fmt.Fprintf(w, `{"data":[%s],"meta":{"total":2,"page":1,"limit":100,"next_page":0}}`, strings.ReplaceAll(fmt.Sprintf(errorRows, "", ""), "2026-11-21T03:58", "2126-11-21T04:58"))
			return
		}
		text := connections[min(n, len(connections)-1)]
		n++
		if status, refused := strings.CutPrefix(text, "refuse "); refused {
			w.WriteHeader(map[string]int{"401": 401, "503": 503}[status])
			fmt.Fprintf(w, `{"error":{"code":"code_%s","message":"No."}}`, status)
			return
		}
		fmt.Fprint(w, ": \n\n"+text)
		w.(http.Flusher).Flush()
		if n >= len(connections) {
			<-r.Context().Done()
		}
	}))
	t.Cleanup(server.Close)
	return []string{"--url", server.URL, "--key", "k"}, asked
}

// endWriter ends a command when its output has a text.
type endWriter struct {
	text  bytes.Buffer
	until string
	end   func()
}

func (w *endWriter) Write(p []byte) (int, error) {
	n, err := w.text.Write(p)
	if strings.Contains(w.text.String(), w.until) {
		w.end()
	}
	return n, err
}

// tail follows until the output has the text, and then ends it as Ctrl-C does.
func tail(t *testing.T, until string, environ []string, args ...string) outcome {
	t.Helper()
	ctx, end := context.WithTimeout(t.Context(), visibleTimeout)
	defer end()
	out, errs := &endWriter{until: until, end: end}, bytes.Buffer{}
	code := run(ctx, &terminal{args: append([]string{"errors", "tail"}, args...), environ: environ, out: out, err: &errs})
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Errorf("after %v there is no %q in %q, %q", visibleTimeout, until, out.text.String(), errs.String())
	}
	return outcome{code, out.text.String(), errs.String()}
}

func quickTail(t *testing.T) {
	t.Helper()
	before := tailPauses
	tailPauses = background.Pauses{First: time.Millisecond, Most: 10 * time.Millisecond}
	t.Cleanup(func() { tailPauses = before })
}

func TestErrorsTail(t *testing.T) {
	at, asked := tailService(t, helloMessage+recordsMessage())
	for name, columns := range map[string]string{"errors-tail": "", "errors-tail-80": "80"} {
		got := tail(t, "more changes", []string{"COLUMNS=" + columns}, append(at, "--project", "shop,2")...)
		if got.code != exitOK || got.err != tailConnected+"\n" {
			t.Errorf("%+v", got)
		}
		if bad, found := unsafe(got.out); found {
			t.Errorf("the output has %U", bad)
		}
		golden(t, name, got.out)
	}
	if want := errorsPath + "/stream project=shop%2C2"; (*asked)[0] != want {
		t.Errorf("asked for %s, want %s", (*asked)[0], want)
	}
	got := tail(t, "total_changed", nil, append(at, "--json")...)
	if bad, found := unsafe(got.out); found || got.code != exitOK || strings.Count(got.out, "\n") != 1 || !strings.HasPrefix(got.out, `{"records":[{"id":7,`) {
		t.Errorf("as JSON: %+v, %U", got, bad)
	}
}

func TestTailConnectsAgain(t *testing.T) {
	quickTail(t)
	at, asked := tailService(t, helloMessage, "refuse 503", "refuse 503", "event: hel", helloMessage)
	got := tail(t, "order 42 failed", nil, append(at, "--project", "shop")...)
	wantErr := tailConnected + "\nerrata: the service ended the stream; trying again\nerrata: connected again; changes of status and deletes of the pause are not shown\n"
	if got.code != exitOK || got.err != wantErr {
		t.Errorf("%+v, want %q", got, wantErr)
	}
	if strings.Contains(got.out, "upload") || strings.Count(got.out, "\n") != 1 {
		t.Errorf("shows what was seen before the pause: %q", got.out)
	}
	last := (*asked)[len(*asked)-1]
	if len(*asked) != 6 || !strings.HasPrefix(last, errorsPath+" date_range=") || !strings.HasSuffix(last, "&limit=100&project=shop") {
		t.Errorf("asked for %q, want five streams and the list of the pause", *asked)
	}
}

func TestTailGivesUpWhereNoTryHelps(t *testing.T) {
	quickTail(t)
	refused, _ := tailService(t, "refuse 401")
	revoked, _ := tailService(t, helloMessage, "refuse 401")
	gone := listenLocal(t)
	url := "http://" + gone.Addr().String()
	_ = gone.Close()
	for name, c := range map[string]struct {
		at   []string
		want string
	}{
		"no right to it": {refused, "code_401"}, "revoked": {revoked, "code_401"}, "nothing is there": {[]string{"--url", url, "--key", "k"}, "reach the service"},
	} {
		got := command(t, nil, append([]string{"errors", "tail"}, c.at...)...)
		if got.code != exitFailed || got.out != "" || !strings.Contains(got.err, "follow the errors: ") || !strings.Contains(got.err, c.want) {
			t.Errorf("%s: %+v, want a failure with %q", name, got, c.want)
		}
	}
}

func TestTailLeavesASilentConnection(t *testing.T) {
	quickTail(t)
	before := tailSilence
	tailSilence = 500 * time.Millisecond
	t.Cleanup(func() { tailSilence = before })
	at, _ := tailService(t, helloMessage)
	got := tail(t, "04:58", nil, at...)
	if got.code != exitOK || !strings.HasPrefix(got.err, tailConnected+"\nerrata: nothing came from the service for a while; trying again\n") {
		t.Errorf("%+v", got)
	}
}

// messagesOf are the messages of a stream.
func messagesOf(t *testing.T, text string) (all []streamMessage) {
	t.Helper()
	err := readStream(strings.NewReader(text), func() {}, func(m streamMessage) error {
		all = append(all, m)
		return nil
	})
	if err == nil {
		t.Error("a stream that ends is an error")
	}
	return all
}

func TestReadStream(t *testing.T) {
	const text = "event: hello\ndata: 1\n\n: \n\ndata:two\ndata: lines\nid: 7\nretry\n\nevent: none\n\nevent: crlf\r\ndata: 3\r\n\r\n"
	want := []streamMessage{{"hello", "1"}, {"", "two\nlines"}, {"crlf", "3"}}
	if got := messagesOf(t, text); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for n := range len(text) { // what breaks off loses only its last message
		if got := messagesOf(t, text[:n]); len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
			t.Errorf("after %d bytes: got %q", n, got)
		}
	}
	stop := errors.New("stop")
	if err := readStream(strings.NewReader(text), func() {}, func(streamMessage) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v, want the error of the reader", err)
	}
}

func FuzzReadStream(f *testing.F) {
	f.Add(helloMessage)
	f.Add(recordsMessage())
	f.Add("data\n\n:\r\n\r\ndata: x")
	f.Fuzz(func(t *testing.T, text string) {
		all := messagesOf(t, text)
		if again := messagesOf(t, text+"data: cut off"); len(again) < len(all) {
			t.Errorf("%d messages, %d with more behind them", len(all), len(again))
		}
		for _, m := range all {
			if strings.Contains(m.event, "\n") {
				t.Errorf("the name %q of a message has lines", m.event)
			}
		}
	})
}
