package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"net/textproto"
	"strconv"
	"strings"
)

// Connection sends one request again and again, one in flight at a time.
type Connection struct {
	net.Conn
	in      *bufio.Reader
	out     []byte
	request Request
}

// Dial connects to a server.
func Dial(ctx context.Context, addr string, req Request) (*Connection, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &Connection{conn, bufio.NewReaderSize(conn, 16<<10), bytes.Clone(req.bytes), req}, nil
}

// Fill makes the events of the request new ones.
func (c *Connection) Fill() { c.request.fill(c.out) }

// Again makes the events of the request those of another connection.
func (c *Connection) Again(from *Connection) { copy(c.out, from.out) }

// Size is the length of the request in bytes.
func (c *Connection) Size() int { return len(c.out) }

// Answer is the answer to one request.
type Answer struct {
	Code   int
	Status string // "429 Too Many Requests"
	Body   string // the beginning, of an answer without 2xx
	Close  bool   // the server ends the connection
}

// Accepted says whether the request was taken.
func (a Answer) Accepted() bool { return a.Code/100 == 2 }

// Err is nil when the request was taken.
func (a Answer) Err() error {
	if a.Accepted() {
		return nil
	}
	return fmt.Errorf("answered %q: %s", a.Status, a.Body)
}

// maxShown bounds the body of a refusal, which is for messages only.
const maxShown = 500

// Send sends the request and reads its answer.
func (c *Connection) Send() (Answer, error) {
	if _, err := c.Write(c.out); err != nil {
		return Answer{}, fmt.Errorf("send: %w", err)
	}
	return readAnswer(c.in)
}

// Succeed sends the request, which must be taken.
func (c *Connection) Succeed() error {
	answer, err := c.Send()
	if err != nil {
		return err
	}
	return answer.Err()
}

// head is the first part of an answer.
type head struct {
	answer  Answer
	length  int // -1 when it is not said
	chunked bool
}

func readAnswer(in *bufio.Reader) (Answer, error) {
	h, err := readHead(in)
	for err == nil && h.answer.Code/100 == 1 {
		h, err = readHead(in)
	}
	if err != nil {
		return Answer{}, err
	}
	if h.answer.Accepted() && h.length >= 0 && !h.chunked { // nearly all, without an allocation
		if _, err := in.Discard(h.length); err != nil {
			return Answer{}, fmt.Errorf("read the body: %w", unexpected(err))
		}
		return h.answer, nil
	}
	body, ended := h.body(in)
	if !h.answer.Accepted() {
		text, err := io.ReadAll(io.LimitReader(body, maxShown))
		if err != nil {
			return Answer{}, fmt.Errorf("read the body: %w", err)
		}
		h.answer.Body = strings.TrimSpace(string(text))
	}
	if _, err := io.Copy(io.Discard, body); err != nil {
		return Answer{}, fmt.Errorf("read the body: %w", err)
	}
	return h.answer, ended()
}

// body is the body, and what must be read behind it.
func (h *head) body(in *bufio.Reader) (body io.Reader, ended func() error) {
	nothing := func() error { return nil }
	switch {
	case h.answer.Code == 204 || h.answer.Code == 304:
		return strings.NewReader(""), nothing
	case h.chunked:
		return httputil.NewChunkedReader(in), func() error { return skipTrailer(in) }
	case h.length >= 0:
		left := &io.LimitedReader{R: in, N: int64(h.length)}
		return left, func() error {
			if left.N > 0 {
				return fmt.Errorf("read the body: %w", io.ErrUnexpectedEOF)
			}
			return nil
		}
	default:
		h.answer.Close = true // its end is that of the connection
		return in, nothing
	}
}

// skipTrailer reads what follows the last chunk, up to an empty line.
func skipTrailer(in *bufio.Reader) error {
	lines := textproto.NewReader(in)
	for {
		line, err := lines.ReadLineBytes()
		if err != nil {
			return fmt.Errorf("read the trailer: %w", unexpected(err))
		}
		if len(line) == 0 {
			return nil
		}
	}
}

// readHead reads the head of an answer.
func readHead(in *bufio.Reader) (h head, err error) {
	lines := textproto.NewReader(in)
	first, err := lines.ReadLine()
	if err != nil {
		return head{}, fmt.Errorf("read the status: %w", unexpected(err))
	}
	version, status, _ := strings.Cut(first, " ")
	code, _, _ := strings.Cut(status, " ")
	if h.answer.Code, err = strconv.Atoi(code); err != nil || h.answer.Code < 100 || h.answer.Code > 999 || !strings.HasPrefix(version, "HTTP/1.") {
		return head{}, fmt.Errorf("the answer begins with %.80q", first)
	}
	h.answer.Status, h.answer.Close, h.length = strings.TrimSpace(status), version == "HTTP/1.0", -1
	for {
		line, err := lines.ReadLineBytes()
		if err != nil {
			return head{}, fmt.Errorf("read the header: %w", unexpected(err))
		}
		if len(line) == 0 {
			return h, nil
		}
		if err := h.field(line); err != nil {
			return head{}, err
		}
	}
}

var (
	contentLength    = []byte("content-length")
	transferEncoding = []byte("transfer-encoding")
	connectionField  = []byte("connection")
)

// field reads one line of the header.
func (h *head) field(line []byte) (err error) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	switch {
	case bytes.EqualFold(name, contentLength):
		h.length, err = strconv.Atoi(string(bytes.TrimSpace(value)))
		if err == nil && h.length < 0 {
			err = errors.New("it is negative")
		}
		if err != nil {
			return fmt.Errorf("read the length: %w", err)
		}
	case bytes.EqualFold(name, transferEncoding):
		h.chunked = bytes.EqualFold(bytes.TrimSpace(value), []byte("chunked"))
	case bytes.EqualFold(name, connectionField):
		switch value := bytes.TrimSpace(value); {
		case bytes.EqualFold(value, []byte("close")):
			h.answer.Close = true
		case bytes.EqualFold(value, []byte("keep-alive")):
			h.answer.Close = false
		}
	}
	return nil
}

// unexpected is the error of an answer that ends in its middle.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
