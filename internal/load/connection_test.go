package load

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
)

// answers are answers of servers, each followed by nothing.
var answers = []struct {
	name, text string
	want       Answer
}{
	{"of the null sink", "HTTP/1.1 202 Accepted\r\nDate: Wed\r\nContent-Length: 0\r\n\r\n", Answer{Code: 202, Status: "202 Accepted"}},
	{"with a body", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", Answer{Code: 200, Status: "200 OK"}},
	{"lower case", "HTTP/1.1 200 OK\r\ncontent-length:2\r\n\r\n{}", Answer{Code: 200, Status: "200 OK"}},
	{"chunked", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-Sum: 1\r\n\r\n", Answer{Code: 200, Status: "200 OK"}},
	{"nothing to say", "HTTP/1.1 204 No Content\r\n\r\n", Answer{Code: 204, Status: "204 No Content"}},
	{"no reason", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", Answer{Code: 200, Status: "200"}},
	{"first to be continued", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", Answer{Code: 200, Status: "200 OK"}},
	{"the last one", "HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n", Answer{Code: 200, Status: "200 OK", Close: true}},
	{"old", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", Answer{Code: 200, Status: "200 OK", Close: true}},
	{"old, kept", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n", Answer{Code: 200, Status: "200 OK"}},
	{"refused", "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 5\r\n\r\nwait\n", Answer{Code: 429, Status: "429 Too Many Requests", Body: "wait"}},
	{"refused in chunks", "HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nwai\r\n1\r\nt\r\n0\r\n\r\n", Answer{Code: 503, Status: "503 Busy", Body: "wait"}},
}

func TestAnswers(t *testing.T) {
	for _, a := range answers {
		t.Run(a.name, func(t *testing.T) {
			in := bufio.NewReader(strings.NewReader(a.text))
			if got, err := readAnswer(in); err != nil || got != a.want {
				t.Errorf("got %+v, %v; want %+v", got, err, a.want)
			}
			if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
				t.Errorf("something is left: %v", err)
			}
			for n := range len(a.text) {
				if got, err := readAnswer(bufio.NewReader(strings.NewReader(a.text[:n]))); err == nil {
					t.Errorf("the first %d bytes are taken for %+v", n, got)
				}
			}
		})
	}
}

// TestAnswerWithoutLength: its end is that of the connection.
func TestAnswerWithoutLength(t *testing.T) {
	long := strings.Repeat("x", 3*maxShown)
	got, err := readAnswer(bufio.NewReader(strings.NewReader("HTTP/1.1 500 Oops\r\n\r\n" + long)))
	if want := (Answer{Code: 500, Status: "500 Oops", Body: long[:maxShown], Close: true}); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestNoAnswers(t *testing.T) {
	for name, text := range map[string]string{
		"another protocol":    "SSH-2.0-OpenSSH_9.2\r\n\r\n",
		"another version":     "HTTP/2 200\r\n\r\n",
		"no number":           "HTTP/1.1 OK\r\n\r\n",
		"a negative number":   "HTTP/1.1 -200 OK\r\n\r\n",
		"no length":           "HTTP/1.1 200 OK\r\nContent-Length: some\r\n\r\n",
		"a negative length":   "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"chunks without size": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
	} {
		if got, err := readAnswer(bufio.NewReader(strings.NewReader(text))); err == nil {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	for _, a := range answers {
		f.Add(a.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := readAnswer(bufio.NewReader(strings.NewReader(text)))
		if err == nil && (got.Code < 200 || got.Code > 999 || len(got.Body) > maxShown || got.Accepted() != (got.Err() == nil)) {
			t.Errorf("%q is taken for %+v", text, got)
		}
	})
}
